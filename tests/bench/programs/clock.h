// The clocks that the benchmark programs print.
#ifndef MEMAGENT_TESTS_BENCH_PROGRAMS_CLOCK_H_
#define MEMAGENT_TESTS_BENCH_PROGRAMS_CLOCK_H_

#include <ctime>

inline double Seconds(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

inline double ThreadCpuSeconds() { return Seconds(CLOCK_THREAD_CPUTIME_ID); }
inline double WallSeconds() { return Seconds(CLOCK_MONOTONIC); }

#endif  // MEMAGENT_TESTS_BENCH_PROGRAMS_CLOCK_H_
