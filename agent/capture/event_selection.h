// Which perf events to try, in which order, and why each other engine is not in use.
//
// Pure: from facts about the machine and the session's options to a plan. Nothing is opened here;
// the caller tries the attempts of each list in order and takes the first that opens, and keeps
// every refusal with its errno (capture/engine_errors.h). Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_CAPTURE_EVENT_SELECTION_H_
#define MEMAGENT_AGENT_CAPTURE_EVENT_SELECTION_H_

#include <linux/perf_event.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "agent/base/types.h"
#include "agent/os/machine.h"

namespace memagent::capture {

// hrtimer events can't tick faster (kernel/events/core.c, perf_swevent_init_hrtimer).
inline constexpr uint64_t kMinClockPeriodNanos = 10'000;
inline constexpr uint64_t kMaxClockPeriodNanos = 1'000'000'000;

struct EventRequest {
  EngineKind engine = EngineKind::kNone;  // the wanted one; see automatic
  bool automatic = true;                  // engine=auto: take the first that this machine offers
  uint64_t rate_hz = 1000;                // per thread and second of CPU time
  uint64_t period_nanos = 0;              // 0: from rate_hz
  uint64_t fault_period = 1;              // record every Nth page fault; at least 1
};

struct EventAttempt {
  perf_event_attr attr;
  std::string_view event;  // "software/cpu-clock"
  // What is lost against the attempt before it, "" for the first of a list.
  std::string_view loss;
  bool has_registers = false;
};

// A short list with room for every rung we have.
struct EventLadder {
  std::array<EventAttempt, 4> attempts = {};
  size_t count = 0;
  std::span<const EventAttempt> view() const { return {attempts.data(), count}; }
};

// Why an engine is not tried. `reason` and `remedy` are one sentence each.
struct EngineRefusal {
  EngineKind engine = EngineKind::kNone;
  std::string_view reason;
  std::string_view remedy;
};

struct EventSelection {
  EngineKind engine = EngineKind::kNone;  // whose events `access` holds
  EventLadder access;                     // memory accesses; empty for kNone
  EventLadder minor_faults;               // first touch; open the first that works of each
  EventLadder major_faults;
  uint64_t period_nanos = 0;     // of the access event
  std::string_view rate_change;  // why it is not the one asked for, "" when it is
  std::array<EngineRefusal, 4> refused = {};
  size_t refused_count = 0;
  std::span<const EngineRefusal> refusals() const { return {refused.data(), refused_count}; }
};

EventSelection SelectEvents(const os::PmuFacts& pmus, const os::CpuInfo& cpu,
                            const os::KernelSettings& kernel, const EventRequest& request);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_EVENT_SELECTION_H_
