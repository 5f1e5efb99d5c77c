// Two sites that get the same address from malloc again and again, with ten times as much work on
// the one as on the other. Each site's block is touched by a function of its own, so a sample that
// is booked on the wrong site shows itself by its code.
//
//   address_reuse [SECONDS]    CPU time (default 3)
#include <cstddef>
#include <cstdio>

#include "tests/programs/ground_truth.h"

namespace {

// Too large for malloc's per-thread cache, so a freed block melts into the top of the heap and the
// next malloc of either site starts at the same place.
constexpr size_t kBlockBytes = 16384;
constexpr size_t kBlockCells = kBlockBytes / sizeof(uint64_t);

[[gnu::always_inline]] inline void TouchAll(uint64_t* block, int passes) {
  for (int pass = 0; pass < passes; ++pass) {
#pragma GCC unroll 16
    for (size_t i = 0; i < kBlockCells; ++i) {
      uint64_t value = block[i];
      asm volatile("" : "+r"(value));  // volatile: neither copy is merged with the other
      block[i] = value;
    }
  }
}

[[gnu::noinline]] void touch_a(uint64_t* block) { TouchAll(block, 100); }
[[gnu::noinline]] void touch_b(uint64_t* block) {
  asm volatile("nop");  // makes the bodies differ: identical ones would be folded into one
  TouchAll(block, 10);
}

[[gnu::noinline]] uint64_t* site_a() { return ground_truth::Kept<uint64_t>(malloc(kBlockBytes)); }
[[gnu::noinline]] uint64_t* site_b() {
  uint64_t* block = ground_truth::Kept<uint64_t>(malloc(kBlockBytes));
  asm volatile("nop");  // as in touch_b
  return block;
}

double Bracketed(uint64_t* block, void (*touch)(uint64_t*)) {
  const double start = ground_truth::ThreadCpuSeconds();
  touch(block);
  return ground_truth::ThreadCpuSeconds() - start;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = ground_truth::SecondsArgument(argc, argv, 1, 3);
  double a_seconds = 0;
  double b_seconds = 0;
  unsigned long turns = 0;
  unsigned long same = 0;
  while (a_seconds + b_seconds < seconds) {
    uint64_t* a = site_a();
    const auto a_address = reinterpret_cast<uintptr_t>(a);
    a_seconds += Bracketed(a, touch_a);
    free(a);
    uint64_t* b = site_b();
    same += reinterpret_cast<uintptr_t>(b) == a_address ? 1 : 0;
    b_seconds += Bracketed(b, touch_b);
    free(b);
    ++turns;
  }
  const double sum = a_seconds + b_seconds;
  printf(
      "{\"turns\": %lu, \"same_address\": %lu, \"shares\": {\"site_a\": %.6f, \"site_b\": %.6f}, "
      "\"code\": {\"site_a\": \"touch_a\", \"site_b\": \"touch_b\"}}\n",
      turns, same, a_seconds / sum, b_seconds / sum);
  return 0;
}
