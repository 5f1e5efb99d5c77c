// Memory is bound to another node than the one whose threads use it: a policy that was right on
// another machine, or for another number of threads.
//
//   wrong_bind [SECONDS [NODE]]    how long it is used (default 3), where it is bound to (default the
//                                  last node with CPUs)
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "examples/pinning.h"

namespace {

constexpr size_t kCells = size_t{1} << 22;  // 32 MiB of 8-byte cells
constexpr size_t kCellsOfALine = 8;
constexpr size_t kThreads = 2;

[[gnu::noinline]] uint64_t* AllocateBuffer() {
  void* buffer = mmap(nullptr, kCells * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (buffer == MAP_FAILED) exit(1);
  return static_cast<uint64_t*>(buffer);
}

// The fault: `node` is not the one whose threads use it. False where the kernel refuses.
[[gnu::noinline]] bool BindBuffer(uint64_t* buffer, int node) {
  unsigned long mask[16] = {};  // 1,024 nodes
  constexpr int kBits = 8 * sizeof mask[0];
  mask[node / kBits] = 1UL << node % kBits;
  return syscall(SYS_mbind, buffer, kCells * sizeof(uint64_t), MPOL_BIND, mask, 8 * sizeof mask,
                 0) == 0;
}

[[gnu::noinline]] uint64_t UseBuffer(uint64_t* buffer, size_t begin, size_t end) {
  uint64_t sum = 0;
  for (size_t i = begin; i < end; i += kCellsOfALine) {
    buffer[i] += 1;
    sum += buffer[i];
  }
  return sum;
}

void Work(const examples::Node& node, uint64_t* buffer, size_t begin, int seconds, uint64_t& sum) {
  examples::PinTo(node);
  const examples::Deadline deadline(seconds);
  while (!deadline.IsOver()) sum += UseBuffer(buffer, begin, begin + kCells / kThreads);
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? atoi(argv[1]) : 3;
  const std::vector<examples::Node> nodes = examples::NodesWithCpus();
  examples::SayWhatCanBeSeen("wrong_bind", nodes);
  uint64_t* buffer = AllocateBuffer();
  const int wrong = argc > 2 ? atoi(argv[2]) : nodes.back().number;
  if (!BindBuffer(buffer, wrong)) perror("wrong_bind: mbind");
  std::vector<uint64_t> sums(kThreads * kCellsOfALine);  // a line each
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Work(nodes.front(), buffer, kCells / kThreads * t, seconds, sums[t * kCellsOfALine]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  printf("wrong_bind: %d seconds, sum %llu\n", seconds,
         static_cast<unsigned long long>(sums.front()));
  munmap(buffer, kCells * sizeof(uint64_t));
  return 0;
}
