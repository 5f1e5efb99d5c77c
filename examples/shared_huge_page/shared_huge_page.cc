// Two threads of two nodes each touch first what they use, in pieces of 64 KiB by turns. With pages
// of 4 KiB all of it is near; a huge page of 2 MiB lies as a whole with whoever touched it first.
//
//   shared_huge_page [SECONDS]    how long it is used (default 3)
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "examples/pinning.h"

namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kBytes = 16 * kHugePage;
constexpr size_t kCells = kBytes / sizeof(uint64_t);
constexpr size_t kCellsOfAPiece = (size_t{64} << 10) / sizeof(uint64_t);
constexpr size_t kCellsOfALine = 8;
constexpr size_t kThreads = 2;

// The fault: huge pages were asked for.
[[gnu::noinline]] uint64_t* AllocatePieces() {
  void* pieces = aligned_alloc(kHugePage, kBytes);
  if (pieces == nullptr) exit(1);
  madvise(pieces, kBytes, MADV_HUGEPAGE);
  return static_cast<uint64_t*>(pieces);
}

[[gnu::noinline]] void FillPieces(uint64_t* pieces, size_t mine) {
  for (size_t piece = mine; piece < kCells / kCellsOfAPiece; piece += kThreads) {
    uint64_t* cells = pieces + piece * kCellsOfAPiece;
    for (size_t i = 0; i < kCellsOfAPiece; ++i) cells[i] = i & 0xff;
  }
}

[[gnu::noinline]] uint64_t UsePieces(uint64_t* pieces, size_t mine) {
  uint64_t sum = 0;
  for (size_t piece = mine; piece < kCells / kCellsOfAPiece; piece += kThreads) {
    uint64_t* cells = pieces + piece * kCellsOfAPiece;
    for (size_t i = 0; i < kCellsOfAPiece; i += kCellsOfALine) {
      cells[i] += 1;
      sum += cells[i];
    }
  }
  return sum;
}

// One after the other, so that the first thread surely comes first to each huge page.
void Fill(const std::vector<examples::Node>& nodes, uint64_t* pieces) {
  for (size_t t = 0; t < kThreads; ++t) {
    std::thread([&, t] {
      examples::PinTo(t == 0 ? nodes.front() : nodes.back());
      FillPieces(pieces, t);
    }).join();
  }
}

void Work(const examples::Node& node, uint64_t* pieces, size_t mine, int seconds, uint64_t& sum) {
  examples::PinTo(node);
  const examples::Deadline deadline(seconds);
  while (!deadline.IsOver()) sum += UsePieces(pieces, mine);
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? atoi(argv[1]) : 3;
  const std::vector<examples::Node> nodes = examples::NodesWithCpus();
  examples::SayWhatCanBeSeen("shared_huge_page", nodes);
  uint64_t* pieces = AllocatePieces();
  Fill(nodes, pieces);
  std::vector<uint64_t> sums(kThreads * kCellsOfALine);  // a line each
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Work(t == 0 ? nodes.front() : nodes.back(), pieces, t, seconds, sums[t * kCellsOfALine]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  printf("shared_huge_page: %d seconds, sum %llu\n", seconds,
         static_cast<unsigned long long>(sums.front()));
  free(pieces);
  return 0;
}
