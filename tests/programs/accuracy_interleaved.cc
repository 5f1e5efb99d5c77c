// Two allocations used in one loop: a stream read in order and a random 64 MiB table. No clock can
// part them, so the truth is a differential: the same loop without the one or the other access.
//
//   accuracy_interleaved truth [SECONDS]   prints the shares as JSON (run it without the agent)
//   accuracy_interleaved full [SECONDS]    runs the loop alone (run it under the agent)
//
// A load fence parts the two accesses of a turn. Without it the processor overlaps them, and what
// one access costs would not be what the loop gets faster by leaving it out.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string_view>

#include "tests/programs/ground_truth.h"

namespace {

using ground_truth::NextRandom;

constexpr size_t kCells = size_t{1} << 23;  // 64 MiB each
constexpr size_t kStreamCellsEachTurn = 64;
constexpr int kTurns = 4096;  // about a third of a millisecond

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
};

inline void LoadFence() {
#if defined(__x86_64__)
  asm volatile("lfence" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dsb ld" ::: "memory");
#endif
}

template <bool kStream, bool kRandom>
[[gnu::noinline]] void Turns(State& state) {
  uint64_t sum = state.sum;
  for (int turn = 0; turn < kTurns; ++turn) {
    state.generator = NextRandom(state.generator);
    const uint64_t* random = state.random + (state.generator >> 41);  // 23 bits
    const uint64_t* stream = state.stream + state.at;
    state.at = (state.at + kStreamCellsEachTurn) % kCells;
    LoadFence();
    if constexpr (kRandom) sum += *random;
    LoadFence();
    if constexpr (kStream) {
#pragma GCC unroll 64
      for (size_t i = 0; i < kStreamCellsEachTurn; ++i) {
        sum += stream[i];
        asm("" : "+r"(sum));
      }
    }
  }
  state.sum = sum;
}

template <bool kStream, bool kRandom>
double Timed(State& state) {
  const double start = ground_truth::ThreadCpuSeconds();
  for (int i = 0; i < 16; ++i) Turns<kStream, kRandom>(state);
  return ground_truth::ThreadCpuSeconds() - start;
}

// The three kinds in turns of a few milliseconds, so that a noisy moment of the machine meets all.
void PrintTruth(State& state, double seconds) {
  double full = 0;
  double without_stream = 0;
  double without_random = 0;
  while (full + without_stream + without_random < seconds) {
    full += Timed<true, true>(state);
    without_stream += Timed<false, true>(state);
    without_random += Timed<true, false>(state);
  }
  const double stream = full - without_stream;
  const double random = full - without_random;
  printf("{\"shares\": {\"alloc_stream\": %.6f, \"alloc_random\": %.6f}, \"neither\": %.6f}\n",
         stream / (stream + random), random / (stream + random), 1 - (stream + random) / full);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode != "truth" && mode != "full") {
    fprintf(stderr, "usage: accuracy_interleaved truth|full [SECONDS]\n");
    return 2;
  }
  const double seconds = ground_truth::SecondsArgument(argc, argv, 2, 3);
  State state = {alloc_stream(), alloc_random()};
  std::fill_n(state.stream, kCells, 1);
  std::fill_n(state.random, kCells, 1);
  if (mode == "truth") {
    PrintTruth(state, seconds);
  } else {
    double spent = 0;
    while (spent < seconds) spent += Timed<true, true>(state);
    printf("{\"cpu_seconds\": %.6f}\n", spent);
  }
  ground_truth::Escape(state.sum);
  return 0;
}
