// One thread initialises an array that all threads then use: on a machine with several NUMA nodes
// all its pages land on the initialising thread's node, and the other nodes' threads reach over.
//
//   one_thread_first_touch [SCALE]    SCALE sweeps are made SCALE times as often (default 1)
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "examples/pinning.h"

namespace {

constexpr size_t kCells = size_t{1} << 23;  // 64 MiB of 8-byte cells: larger than most caches
constexpr size_t kThreads = 4;
constexpr int kSweepsPerScale = 800;

[[gnu::noinline]] uint64_t* AllocateField() {
  void* field = malloc(kCells * sizeof(uint64_t));
  if (field == nullptr) exit(1);
  return static_cast<uint64_t*>(field);
}

// The fault: this loop runs in the main thread alone, so the main thread touches every page first.
[[gnu::noinline]] void FillField(uint64_t* field) {
  for (size_t i = 0; i < kCells; ++i) field[i] = i & 0xff;
}

[[gnu::noinline]] void SweepPart(uint64_t* field, size_t begin, size_t end, int sweeps,
                                 uint64_t* sum) {
  uint64_t part_sum = 0;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    // Eight cells a line: one access to each line shows the memory and not the arithmetic.
    for (size_t i = begin; i < end; i += 8) {
      field[i] += 1;
      part_sum += field[i];
    }
  }
  *sum = part_sum;
}

}  // namespace

int main(int argc, char** argv) {
  const int sweeps = kSweepsPerScale * (argc > 1 ? atoi(argv[1]) : 1);
  const std::vector<examples::Node> nodes = examples::NodesWithCpus();
  examples::PinTo(nodes.front());
  uint64_t* field = AllocateField();
  FillField(field);
  std::vector<uint64_t> sums(kThreads * 8);  // 64 bytes apart: no false sharing in this example
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      examples::PinTo(nodes[t * nodes.size() / kThreads]);
      SweepPart(field, kCells / kThreads * t, kCells / kThreads * (t + 1), sweeps, &sums[t * 8]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  printf("one_thread_first_touch: %d sweeps, sum %llu\n", sweeps,
         static_cast<unsigned long long>(std::accumulate(sums.begin(), sums.end(), uint64_t{0})));
  free(field);
  return 0;
}
