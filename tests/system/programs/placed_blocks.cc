// Threads pinned to the CPU of each node, each working on four blocks of known placement:
//
//   AllocateNear     on the thread's own node
//   AllocateFar      on another node, the one without CPUs if there is one; after "mended" on its
//   own AllocateSpread   page by page over all nodes AllocateHalf     on the own node, but its
//   second half is never touched
//
//   placed_blocks [mended]
//
// Prints as one line of JSON where the blocks are, then works until standard input ends. Where the
// pages really lie is for the test to ask, from outside.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/programs/ground_truth.h"
#include "tests/system/programs/numa_memory.h"
#include "tests/system/programs/stretch.h"

namespace {

using numa_memory::kPageBytes;

constexpr size_t kBlockBytes = size_t{2} << 20;  // of a block that is placed

struct Block {
  const char* function = "";
  char* start = nullptr;
  size_t touched = 0;  // bytes from the start
};

struct Worker {
  int cpu = 0;
  int node = 0;
  int far_node = 0;
  int tid = 0;
  std::vector<Block> blocks;
};

// Of different sizes, or the compiler makes one function of them.
[[gnu::noinline]] char* AllocateNear() {
  return ground_truth::Kept<char>(aligned_alloc(kPageBytes, kBlockBytes));
}
[[gnu::noinline]] char* AllocateFar() {
  return ground_truth::Kept<char>(aligned_alloc(kPageBytes, kBlockBytes + 1 * kPageBytes));
}
[[gnu::noinline]] char* AllocateSpread() {
  return ground_truth::Kept<char>(aligned_alloc(kPageBytes, kBlockBytes + 2 * kPageBytes));
}
[[gnu::noinline]] char* AllocateHalf() {
  return ground_truth::Kept<char>(aligned_alloc(kPageBytes, kBlockBytes + 3 * kPageBytes));
}

void Allocate(Worker& worker, int node_count) {
  const uint64_t all = (uint64_t{1} << node_count) - 1;
  worker.blocks = {{"AllocateNear", AllocateNear(), kBlockBytes},
                   {"AllocateFar", AllocateFar(), kBlockBytes},
                   {"AllocateSpread", AllocateSpread(), kBlockBytes},
                   {"AllocateHalf", AllocateHalf(), kBlockBytes / 2}};
  numa_memory::Place(worker.blocks[0].start, kBlockBytes, MPOL_BIND, 1u << worker.node);
  numa_memory::Place(worker.blocks[1].start, kBlockBytes, MPOL_BIND, 1u << worker.far_node);
  numa_memory::Place(worker.blocks[2].start, kBlockBytes, MPOL_INTERLEAVE, all);
  numa_memory::Place(worker.blocks[3].start, kBlockBytes, MPOL_BIND, 1u << worker.node);
  // Written before they are read: else each page is first the zero page, and giving it up
  // interrupts all other CPUs, which takes a guest longer than all the rest.
  for (const Block& block : worker.blocks) memset(block.start, 1, block.touched);
}

// Begins at pages drawn by chance: those few of the instructions that are seen would else always
// meet the same pages.
void Work(const Block& block, uint64_t& random) {
  const size_t pages = (block.touched - stretch::kBytes) / kPageBytes + 1;
  for (size_t done = 0; done < block.touched; done += stretch::kBytes) {
    random = ground_truth::NextRandom(random);
    stretch::WorkOnPages(block.start + (random >> 33) % pages * kPageBytes);
  }
}

// Rests between rounds: on crowded CPUs the agent's thread would get no turn.
void Run(Worker& worker, int node_count, std::barrier<>& placed, const std::atomic<bool>& stop) {
  numa_memory::PinTo(worker.cpu);
  worker.tid = static_cast<int>(syscall(SYS_gettid));
  Allocate(worker, node_count);
  placed.arrive_and_wait();
  uint64_t random = static_cast<uint64_t>(worker.tid);
  while (!stop.load(std::memory_order_relaxed)) {
    for (const Block& block : worker.blocks) Work(block, random);
    usleep(1000);
  }
}

void PrintBlocks(const std::vector<Worker>& workers) {
  const char* separator = "";
  printf("[");
  for (const Worker& worker : workers) {
    for (const Block& block : worker.blocks) {
      printf(
          "%s{\"function\": \"%s\", \"tid\": %d, \"cpu\": %d, \"node\": %d, \"far_node\": %d, "
          "\"start\": %zu, \"bytes\": %zu, \"touched\": %zu}",
          separator, block.function, worker.tid, worker.cpu, worker.node, worker.far_node,
          reinterpret_cast<size_t>(block.start), kBlockBytes, block.touched);
      separator = ", ";
    }
  }
  printf("]\n");
  fflush(stdout);
}

std::vector<Worker> MakeWorkers(int node_count, bool mended) {
  const bool last_has_no_cpu = numa_memory::FirstCpuOf(node_count - 1) < 0;
  std::vector<Worker> workers;
  for (int node = 0; node < node_count; ++node) {
    const int cpu = numa_memory::FirstCpuOf(node);
    const int other = last_has_no_cpu ? node_count - 1 : (node + 1) % node_count;
    const int far = mended ? node : other;
    if (cpu >= 0) workers.push_back({cpu, node, far, 0, {}});
  }
  return workers;
}

}  // namespace

int main(int argc, char** argv) {
  const bool mended = argc > 1 && std::string_view(argv[1]) == "mended";
  const int node_count = numa_memory::NodeCount();
  std::vector<Worker> workers = MakeWorkers(node_count, mended);
  std::barrier placed(static_cast<std::ptrdiff_t>(workers.size()) + 1);
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (Worker& worker : workers) {
    threads.emplace_back([&] { Run(worker, node_count, placed, stop); });
  }
  placed.arrive_and_wait();
  PrintBlocks(workers);
  while (getchar() != EOF) {
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  return 0;
}
