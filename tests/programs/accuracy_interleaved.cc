// Two allocations used in one loop: a stream read in order and a random 64 MiB table. No clock can
// part them, so the truth is a differential: the same loop with the table's indices kept within 4
// KiB costs as much as the loop without waiting for the table.
//
//   accuracy_interleaved truth [SECONDS]   prints the shares as JSON (run it without the agent)
//   accuracy_interleaved full [SECONDS]    runs the loop alone (run it under the agent)
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string_view>

#include "tests/programs/ground_truth.h"

namespace {

using ground_truth::NextRandom;

constexpr size_t kCells = size_t{1} << 23;  // 64 MiB each
constexpr uint64_t kWindowMask = 511;       // 4 KiB
constexpr size_t kTurn = 4096;

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

[[gnu::noinline]] void Turn(State& state, uint64_t mask) {
  uint64_t generator = state.generator;
  uint64_t sum = state.sum;
  const uint64_t* stream = state.stream + state.at;
#pragma GCC unroll 8
  for (size_t i = 0; i < kTurn; ++i) {
    generator = NextRandom(generator);
    sum += stream[i];
    asm("" : "+r"(sum));
    sum += state.random[(generator >> 41) & mask];
    asm("" : "+r"(sum));
  }
  state.at = (state.at + kTurn) % kCells;
  state.generator = generator;
  state.sum = sum;
}

double TimedTurns(State& state, uint64_t mask, int turns) {
  const double start = ground_truth::ThreadCpuSeconds();
  for (int i = 0; i < turns; ++i) Turn(state, mask);
  return ground_truth::ThreadCpuSeconds() - start;
}

// Both kinds in turns of a few milliseconds, so that a noisy moment of the machine meets both.
void PrintTruth(State& state, double seconds) {
  double full = 0;
  double window = 0;
  while (full + window < seconds) {
    full += TimedTurns(state, ~uint64_t{0}, 32);
    window += TimedTurns(state, kWindowMask, 32);
  }
  const double random = (full - window) / full;
  printf("{\"shares\": {\"alloc_stream\": %.6f, \"alloc_random\": %.6f}}\n", 1 - random, random);
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
    while (spent < seconds) spent += TimedTurns(state, ~uint64_t{0}, 32);
    printf("{\"cpu_seconds\": %.6f}\n", spent);
  }
  ground_truth::Escape(state.sum);
  return 0;
}
