// Two allocations used in one loop, in turns of a microsecond: a stream read in order and a random
// 64 MiB table. The processor's own clock around each part is the truth.
//
//   accuracy_interleaved [SECONDS]    CPU time (default 3)
//
// Fences keep each part within its bracket. (A differential, the loop without the one or the other
// access, was tried first: the stream evicts the table's lines, so what the loop gets faster by
// leaving it out is up to 10 points more than the time spent on it.)
#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "tests/programs/ground_truth.h"

namespace {

using ground_truth::NextRandom;

constexpr size_t kCells = size_t{1} << 23;  // 64 MiB each
constexpr size_t kStreamCellsEachTurn = 1024;
constexpr int kRandomEachTurn = 4;
constexpr int kTurns = 1024;

[[gnu::noinline]] uint64_t* alloc_stream() {
  return ground_truth::Kept<uint64_t>(malloc(kCells * sizeof(uint64_t)));
}
[[gnu::noinline]] uint64_t* alloc_random() {
  asm volatile("nop");  // keeps it apart from alloc_stream, which would else be the same function
  return ground_truth::Kept<uint64_t>(malloc(kCells * sizeof(uint64_t)));
}

struct State {
  uint64_t* stream;
  uint64_t* random;
  size_t at = 0;
  uint64_t generator = 1;
  uint64_t sum = 0;
  uint64_t stream_ticks = 0;
  uint64_t random_ticks = 0;
};

// Reads the clock when all loads before are done and none after has begun.
inline uint64_t FencedTicks() {
#if defined(__x86_64__)
  uint32_t low, high;
  asm volatile("lfence\n rdtsc\n lfence" : "=a"(low), "=d"(high)::"memory");
  return uint64_t{high} << 32 | low;
#elif defined(__aarch64__)
  uint64_t ticks;
  asm volatile("dsb ld\n isb\n mrs %0, cntvct_el0\n isb" : "=r"(ticks)::"memory");
  return ticks;
#endif
}

// What an empty bracket costs, in ticks: the smallest of many.
uint64_t BracketTicks() {
  uint64_t least = ~uint64_t{0};
  for (int i = 0; i < 1000; ++i) {
    const uint64_t start = FencedTicks();
    least = std::min(least, FencedTicks() - start);
  }
  return least;
}

// Escape keeps the compiler from moving the call, which has no side effect, over a clock reading.
[[gnu::noinline]] uint64_t ReadRandom(const uint64_t* cells, uint64_t generator) {
  ground_truth::Escape(cells);
#pragma GCC unroll 4
  for (int i = 0; i < kRandomEachTurn; ++i) {
    generator = NextRandom(generator + cells[generator >> 41]);  // 23 bits; each waits for the last
  }
  return generator;
}

[[gnu::noinline]] uint64_t ReadStream(const uint64_t* cells) {
  ground_truth::Escape(cells);
  uint64_t sum = 0;
#pragma GCC unroll 32
  for (size_t i = 0; i < kStreamCellsEachTurn; ++i) {
    sum += cells[i];
    asm("" : "+r"(sum));
  }
  return sum;
}

// A turn that takes this long was interrupted: its time is not the program's own, and which part
// was hit would be chance.
constexpr uint64_t kInterruptedTicks = 30'000;

void Turns(State& state, uint64_t bracket) {
  for (int turn = 0; turn < kTurns; ++turn) {
    const uint64_t start = FencedTicks();
    state.generator = ReadRandom(state.random, state.generator);
    const uint64_t middle = FencedTicks();
    state.sum += ReadStream(state.stream + state.at);
    const uint64_t end = FencedTicks();
    state.at = (state.at + kStreamCellsEachTurn) % kCells;
    if (end - start > kInterruptedTicks) continue;
    state.random_ticks += middle - start - std::min(bracket, middle - start);
    state.stream_ticks += end - middle - std::min(bracket, end - middle);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = ground_truth::SecondsArgument(argc, argv, 1, 3);
  State state = {alloc_stream(), alloc_random()};
  std::fill_n(state.stream, kCells, 1);
  std::fill_n(state.random, kCells, 1);
  const uint64_t bracket = BracketTicks();
  const double start = ground_truth::ThreadCpuSeconds();
  double spent = 0;
  while (spent < seconds) {
    Turns(state, bracket);
    spent = ground_truth::ThreadCpuSeconds() - start;
  }
  ground_truth::Escape(state.sum);
  const double sum = static_cast<double>(state.stream_ticks + state.random_ticks);
  printf(
      "{\"cpu_seconds\": %.6f, \"bracket_ticks\": %llu, \"shares\": {\"alloc_stream\": %.6f, "
      "\"alloc_random\": %.6f}}\n",
      spent, static_cast<unsigned long long>(bracket),
      static_cast<double>(state.stream_ticks) / sum, static_cast<double>(state.random_ticks) / sum);
  return 0;
}
