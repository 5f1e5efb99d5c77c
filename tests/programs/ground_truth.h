// Helpers of the ground-truth programs: clocks, sinks, and the order the compiler must keep.
#ifndef MEMAGENT_TESTS_PROGRAMS_GROUND_TRUTH_H_
#define MEMAGENT_TESTS_PROGRAMS_GROUND_TRUTH_H_

#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace ground_truth {

// CPU time of the calling thread, in seconds.
inline double ThreadCpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Makes the compiler believe that `value` is used and changed here.
template <typename T>
inline void Escape(T& value) {
  asm volatile("" : "+r"(value) : : "memory");
}

// Returns `block`. "return Kept(malloc(n));" keeps the caller's frame on the call stack, where
// "return malloc(n);" would be a jump into malloc at -O2.
template <typename T>
inline T* Kept(void* block) {
  Escape(block);
  return static_cast<T*>(block);
}

// The next state of a 64-bit linear congruential generator (Knuth's MMIX constants); use the high
// bits.
inline uint64_t NextRandom(uint64_t state) {
  return state * 6364136223846793005u + 1442695040888963407u;
}

// The most memory this program ever had resident, in KiB; -1 when the kernel does not say. Not
// ru_maxrss, which also remembers what the process was before exec.
inline long PeakResidentKib() {
  long kib = -1;
  FILE* status = fopen("/proc/self/status", "r");
  if (status == nullptr) return kib;
  for (char line[256]; fgets(line, sizeof(line), status) != nullptr;) {
    if (sscanf(line, "VmHWM: %ld kB", &kib) == 1) break;
  }
  fclose(status);
  return kib;
}

inline double SecondsArgument(int argc, char** argv, int index, double otherwise) {
  return argc > index ? atof(argv[index]) : otherwise;
}

}  // namespace ground_truth

#endif  // MEMAGENT_TESTS_PROGRAMS_GROUND_TRUTH_H_
