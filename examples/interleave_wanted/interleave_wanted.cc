// Threads on all nodes read all of a table that one thread filled: every page is on one node, whose
// memory serves the whole machine.
//
//   interleave_wanted [SECONDS]    how long it is read (default 3)
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "examples/pinning.h"

namespace {

constexpr size_t kCells = size_t{1} << 22;  // 32 MiB of 8-byte cells
constexpr size_t kCellsOfALine = 8;
constexpr size_t kThreads = 4;

[[gnu::noinline]] uint64_t* AllocateTable() {
  void* table = malloc(kCells * sizeof(uint64_t));
  if (table == nullptr) exit(1);
  return static_cast<uint64_t*>(table);
}

// The fault: the main thread, on the first node, touches every page first.
[[gnu::noinline]] void FillTable(uint64_t* table) {
  for (size_t i = 0; i < kCells; ++i) table[i] = i;
}

// One cell of each line, in an order that a prefetcher cannot follow: 300,007 is prime.
[[gnu::noinline]] uint64_t ReadTable(const uint64_t* table, size_t& line) {
  constexpr size_t kLines = kCells / kCellsOfALine;
  uint64_t sum = 0;
  for (size_t i = 0; i < kLines / 16; ++i) {
    sum += table[line * kCellsOfALine];
    line = (line + 300'007) % kLines;
  }
  return sum;
}

void Work(const examples::Node& node, const uint64_t* table, size_t start, int seconds,
          uint64_t& sum) {
  examples::PinTo(node);
  const examples::Deadline deadline(seconds);
  size_t line = start;
  while (!deadline.IsOver()) sum += ReadTable(table, line);
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? atoi(argv[1]) : 3;
  const std::vector<examples::Node> nodes = examples::NodesWithCpus();
  examples::SayWhatCanBeSeen("interleave_wanted", nodes);
  examples::PinTo(nodes.front());
  uint64_t* table = AllocateTable();
  FillTable(table);
  std::vector<uint64_t> sums(kThreads * kCellsOfALine);  // a line each
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Work(nodes[t % nodes.size()], table, t * 1000, seconds, sums[t * kCellsOfALine]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  printf("interleave_wanted: %d seconds, sum %llu\n", seconds,
         static_cast<unsigned long long>(sums.front()));
  free(table);
  return 0;
}
