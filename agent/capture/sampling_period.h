// The period of an engine's events: from what the user asked for to what engine and kernel can do.
// For the files *_selection only. Pure.
#ifndef MEMAGENT_AGENT_CAPTURE_SAMPLING_PERIOD_H_
#define MEMAGENT_AGENT_CAPTURE_SAMPLING_PERIOD_H_

#include <cstdint>
#include <string_view>

#include "agent/capture/engine_plan.h"
#include "agent/capture/event_selection.h"

namespace memagent::capture {

// hrtimer events can't tick faster (kernel/events/core.c, perf_swevent_init_hrtimer).
inline constexpr uint64_t kMinClockPeriodNanos = 10'000;
inline constexpr uint64_t kMaxClockPeriodNanos = 1'000'000'000;

// SPE's counter has 32 bits, the lowest 8 of them zero (facts: perf_abi 4.1). The others' are
// wider; one bound for all is far above any period in use.
inline constexpr uint64_t kLongestHardwarePeriod = 0xffffff00;

// A core that retires one micro-op a cycle at 4 GHz. Of a period in ops nobody can tell the rate
// beforehand: code that waits for memory, which we are here for, runs at half of this or less, and
// takes fewer samples; the densest code at four times this.
inline constexpr uint64_t kBusyOpsPerSecond = 4'000'000'000;

// How an engine counts.
struct PeriodRule {
  std::string_view unit;      // "ops"
  uint64_t units_per_second;  // on a busy core
  uint64_t sample_percent;    // of the periods' ends, how many give a sample of an access
  bool interrupts;            // each end of a period is an interrupt
  uint64_t step;              // the period is a multiple of this
  uint64_t shortest;
  std::string_view change;  // what to tell who asked for another period
};

// Fills what `plan` says of the period. A period that was asked for is only bounded by the engine;
// one that follows from a rate stays at half of kernel.perf_event_max_sample_rate, too: the kernel
// stops an event for the rest of a scheduler tick when it goes over that, and lowers that limit for
// the whole machine when handlers take long (facts: perf_abi 1.10).
void ChooseHardwarePeriod(const os::KernelSettings& kernel, const EventRequest& request,
                          const PeriodRule& rule, EnginePlan& plan);

// The same for the software engine, in nanoseconds; bounded by the sample rate in any case.
void ChooseClockPeriod(const os::KernelSettings& kernel, const EventRequest& request,
                       EnginePlan& plan);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_SAMPLING_PERIOD_H_
