// Work that an emulated processor's interrupts show: a stretch of pages with no branch in it.
#ifndef MEMAGENT_TESTS_SYSTEM_PROGRAMS_STRETCH_H_
#define MEMAGENT_TESTS_SYSTEM_PROGRAMS_STRETCH_H_

#include <cstddef>
#include <cstdint>

#include "tests/programs/ground_truth.h"
#include "tests/system/programs/numa_memory.h"

namespace stretch {

inline constexpr size_t kBytes = 32 * numa_memory::kPageBytes;
inline constexpr size_t kLineBytes = 64;

// Loads and stores in 32 pages, a line each time. No branch for 4,096 instructions: an emulated
// processor is interrupted only where a translated block begins, which is behind a branch, where
// the software engine can't tell what ran before, or every 512 instructions.
[[gnu::noinline]] inline void WorkOnPages(char* start) {
  auto* cells = reinterpret_cast<uint64_t*>(start);
  uint64_t sum = 0;
#pragma GCC unroll 2048
  for (size_t i = 0; i < kBytes / kLineBytes; ++i) {
    sum += cells[i * 8];
    asm("" : "+r"(sum));
    cells[i * 8 + 1] = sum;
  }
  ground_truth::Escape(sum);
}

}  // namespace stretch

#endif  // MEMAGENT_TESTS_SYSTEM_PROGRAMS_STRETCH_H_
