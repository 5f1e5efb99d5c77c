#include "agent/os/perf_time.h"

#include <atomic>

namespace memagent::os {
namespace {

// The kernel makes `lock` odd while it writes, and even again.
uint32_t LoadLock(const perf_event_mmap_page* control) {
  return *static_cast<const volatile uint32_t*>(&control->lock);
}

PerfTime Copy(const perf_event_mmap_page* control) {
  PerfTime time;
  time.zero = control->time_zero;
  time.mult = control->time_mult;
  time.shift = control->time_shift;
  if (control->cap_user_time_short) {
    time.cycles = control->time_cycles;
    time.mask = control->time_mask;
  }
  return time;
}

}  // namespace

std::optional<PerfTime> ReadPerfTime(const perf_event_mmap_page* control) {
  // It writes on this CPU's interrupts, for less than a microsecond: a page that stays odd is
  // broken. Of one CPU only the compiler's order matters (uapi perf_event.h, where it is barrier()).
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    const uint32_t before = LoadLock(control);
    std::atomic_signal_fence(std::memory_order_acquire);
    const bool known = control->cap_user_time_zero;
    const PerfTime time = Copy(control);
    std::atomic_signal_fence(std::memory_order_acquire);
    if (before % 2 != 0 || LoadLock(control) != before) continue;
    if (!known || time.mult == 0 || time.shift > PerfTime::kMaxShift) return std::nullopt;
    return time;
  }
  return std::nullopt;
}

}  // namespace memagent::os
