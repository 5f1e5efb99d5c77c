// The CPU's time-stamp counter: the cheapest clock there is, for hot code.
//
// Not ordered against the instructions around it (tens of nanoseconds). os/clock.h turns its ticks
// into CLOCK_MONOTONIC and says how well. Calling thread: any.
#ifndef MEMAGENT_AGENT_OS_TSC_H_
#define MEMAGENT_AGENT_OS_TSC_H_

#include <cstdint>

namespace memagent::os {

[[gnu::always_inline]] inline uint64_t ReadTsc() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}

// Waits until everything before has been done, then reads: for calibration.
inline uint64_t ReadTscOrdered() {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
  const uint64_t ticks = __builtin_ia32_rdtsc();
  __builtin_ia32_lfence();
  return ticks;
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
  const uint64_t ticks = ReadTsc();
  asm volatile("isb" ::: "memory");
  return ticks;
#endif
}

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_TSC_H_
