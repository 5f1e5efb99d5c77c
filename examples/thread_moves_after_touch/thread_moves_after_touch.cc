// Threads fill their own memory on one node and are then moved to another: what a scheduler, or a
// program that pins its threads too late, does to data that was placed well.
//
//   thread_moves_after_touch [SECONDS]    how long it is used after the move (default 3)
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "examples/pinning.h"

namespace {

constexpr size_t kCells = size_t{1} << 21;  // 16 MiB of 8-byte cells for each thread
constexpr size_t kCellsOfALine = 8;
constexpr size_t kThreads = 2;

[[gnu::noinline]] uint64_t* AllocateOwn() {
  void* own = malloc(kCells * sizeof(uint64_t));
  if (own == nullptr) exit(1);
  return static_cast<uint64_t*>(own);
}

[[gnu::noinline]] void FillOwn(uint64_t* own) {
  for (size_t i = 0; i < kCells; ++i) own[i] = i & 0xff;
}

[[gnu::noinline]] uint64_t UseOwn(uint64_t* own) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kCells; i += kCellsOfALine) {
    own[i] += 1;
    sum += own[i];
  }
  return sum;
}

void Work(const examples::Node& first, const examples::Node& then, int seconds, uint64_t& sum) {
  examples::PinTo(first);
  uint64_t* own = AllocateOwn();
  FillOwn(own);
  examples::PinTo(then);  // the fault: its pages stay behind
  const examples::Deadline deadline(seconds);
  while (!deadline.IsOver()) sum += UseOwn(own);
  free(own);
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? atoi(argv[1]) : 3;
  const std::vector<examples::Node> nodes = examples::NodesWithCpus();
  examples::SayWhatCanBeSeen("thread_moves_after_touch", nodes);
  std::vector<uint64_t> sums(kThreads * kCellsOfALine);  // a line each
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back(
        [&, t] { Work(nodes.front(), nodes.back(), seconds, sums[t * kCellsOfALine]); });
  }
  for (std::thread& thread : threads) thread.join();
  printf("thread_moves_after_touch: %d seconds, sum %llu\n", seconds,
         static_cast<unsigned long long>(sums.front()));
  return 0;
}
