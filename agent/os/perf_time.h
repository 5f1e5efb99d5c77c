// Turns ticks of the CPU's counter into the time that the kernel stamps perf records with, by the
// numbers it publishes in every ring's control page. Pure, but for reading that page. Calling
// thread: any.
//
// That time is the kernel's sched_clock: records of an event with use_clockid have another (ours
// have CLOCK_MONOTONIC, os/clock.h converts to that). Source: uapi perf_event.h,
// perf_event_mmap_page; facts, perf_abi 1.6 and 4.3.
#ifndef MEMAGENT_AGENT_OS_PERF_TIME_H_
#define MEMAGENT_AGENT_OS_PERF_TIME_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>

namespace memagent::os {

// perf_event_mmap_page has these, and PERF_RECORD_TIME_CONV of a perf.data file.
struct PerfTime {
  uint64_t zero = 0;   // nanoseconds at tick 0
  uint32_t mult = 0;   // nanoseconds = ticks * mult / 2^shift
  uint16_t shift = 0;  // at most kMaxShift
  // A counter that is narrower than 64 bits (cap_user_time_short): its ticks count on from `cycles`
  // modulo `mask` + 1. All bits of `mask` are set where it is not.
  uint64_t cycles = 0;
  uint64_t mask = UINT64_MAX;

  static constexpr uint16_t kMaxShift = 32;

  uint64_t ToNanos(uint64_t ticks) const {
    ticks = cycles + ((ticks - cycles) & mask);
    // In two parts, so that nothing is lost above 64 bits.
    const uint64_t whole = ticks >> shift;
    const uint64_t rest = ticks & ((uint64_t{1} << shift) - 1);
    return zero + whole * mult + (rest * mult >> shift);
  }
};

// nullopt when the kernel publishes no such numbers (cap_user_time_zero), or when someone else
// wrote into the page.
std::optional<PerfTime> ReadPerfTime(const perf_event_mmap_page* control);

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_PERF_TIME_H_
