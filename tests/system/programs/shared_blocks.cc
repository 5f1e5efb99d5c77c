// Blocks of known use, by a thread on the CPU of each of four nodes:
//
//   AllocateBlocked    8 MiB touched by main on node 0; thread t writes the t-th quarter
//   AllocateBound      bound to node 3 (mbind), only read, by all
//   AllocateWritten    touched by main; written by all
//   AllocatePolicied   touched by a thread whose own policy is node 2 (set_mempolicy), read by
//   thread 3 AllocateMigrated   touched by main; read by thread 0; moved to node 3 (move_pages)
//   when told so AllocateLeft       touched on node 1 by a thread that goes to node 2 when told so,
//   and reads it
//
// Prints as one line of JSON the threads, then works until standard input ends; a line "move" there
// moves the pages and the thread, which is answered by "moved".
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "tests/programs/ground_truth.h"
#include "tests/system/programs/numa_memory.h"
#include "tests/system/programs/stretch.h"

namespace {

using numa_memory::kPageBytes;

constexpr int kNodes = 4;
constexpr size_t kBlockedBytes = size_t{8} << 20;
constexpr size_t kBytes = size_t{1} << 20;

struct Blocks {
  char* blocked = nullptr;
  char* bound = nullptr;
  char* written = nullptr;
  char* policied = nullptr;
  char* migrated = nullptr;
  char* left = nullptr;
};

// Small pages only. Of different sizes, or the compiler makes one function of them.
[[gnu::always_inline]] inline char* Allocated(size_t bytes) {
  char* start = ground_truth::Kept<char>(aligned_alloc(kPageBytes, bytes));
  if (madvise(start, bytes, MADV_NOHUGEPAGE) != 0) numa_memory::Die("MADV_NOHUGEPAGE");
  if (madvise(start, bytes, MADV_DONTNEED) != 0) numa_memory::Die("MADV_DONTNEED");
  return start;
}
[[gnu::noinline]] char* AllocateBlocked() { return Allocated(kBlockedBytes); }
[[gnu::noinline]] char* AllocateBound() { return Allocated(kBytes + 1 * kPageBytes); }
[[gnu::noinline]] char* AllocateWritten() { return Allocated(kBytes + 2 * kPageBytes); }
[[gnu::noinline]] char* AllocatePolicied() { return Allocated(kBytes + 3 * kPageBytes); }
[[gnu::noinline]] char* AllocateMigrated() { return Allocated(kBytes + 4 * kPageBytes); }
[[gnu::noinline]] char* AllocateLeft() { return Allocated(kBytes + 5 * kPageBytes); }

// No branch for 2,048 instructions, as in stretch.h.
[[gnu::noinline]] void WritePages(char* start) {
  auto* cells = reinterpret_cast<uint64_t*>(start);
#pragma GCC unroll 2048
  for (size_t i = 0; i < stretch::kBytes / stretch::kLineBytes; ++i) {
    cells[i * 8 + 1] = i;
    asm("" ::: "memory");
  }
}
[[gnu::noinline]] void ReadPages(const char* start) {
  auto* cells = reinterpret_cast<const uint64_t*>(start);
  uint64_t sum = 0;
#pragma GCC unroll 2048
  for (size_t i = 0; i < stretch::kBytes / stretch::kLineBytes; ++i) {
    sum += cells[i * 8];
    asm("" : "+r"(sum));
  }
  ground_truth::Escape(sum);
}

// A stretch of [start, start + bytes), drawn by chance.
char* Stretch(char* start, size_t bytes, uint64_t& random) {
  random = ground_truth::NextRandom(random);
  return start + (random >> 33) % ((bytes - stretch::kBytes) / kPageBytes + 1) * kPageBytes;
}

void SetPolicy(int mode, uint64_t nodes) {
  const bool none = nodes == 0;
  if (syscall(SYS_set_mempolicy, mode, none ? nullptr : &nodes, none ? 0 : 64) != 0) {
    numa_memory::Die("set_mempolicy");
  }
}

int Tid() { return static_cast<int>(syscall(SYS_gettid)); }

struct Program {
  Blocks blocks;
  int worker_tids[kNodes] = {};
  int mover_tid = 0;
  std::atomic<bool> stop = false;
  std::atomic<bool> move = false;
  std::atomic<bool> moved = false;
  std::barrier<> ready{kNodes + 2};
};

void TouchPolicied(Blocks& blocks) {
  SetPolicy(MPOL_BIND, 1u << 2);
  blocks.policied = AllocatePolicied();
  memset(blocks.policied, 1, kBytes);
  SetPolicy(MPOL_DEFAULT, 0);
}

void Work(Program& program, int node) {
  numa_memory::PinTo(numa_memory::FirstCpuOf(node));
  program.worker_tids[node] = Tid();
  if (node == 3) TouchPolicied(program.blocks);
  program.ready.arrive_and_wait();
  const Blocks& blocks = program.blocks;
  auto random = static_cast<uint64_t>(Tid());
  constexpr size_t kQuarter = kBlockedBytes / kNodes;
  while (!program.stop.load(std::memory_order_relaxed)) {
    for (int i = 0; i < 8; ++i) {
      WritePages(Stretch(blocks.blocked + static_cast<size_t>(node) * kQuarter, kQuarter, random));
      ReadPages(Stretch(blocks.bound, kBytes, random));
      WritePages(Stretch(blocks.written, kBytes, random));
      if (node == 3) ReadPages(Stretch(blocks.policied, kBytes, random));
      if (node == 0) ReadPages(Stretch(blocks.migrated, kBytes, random));
    }
    usleep(1000);
  }
}

void MoveAway(Program& program) {
  numa_memory::PinTo(numa_memory::FirstCpuOf(1));
  program.mover_tid = Tid();
  program.blocks.left = AllocateLeft();
  memset(program.blocks.left, 1, kBytes);
  program.ready.arrive_and_wait();
  auto random = static_cast<uint64_t>(Tid());
  while (!program.stop.load(std::memory_order_relaxed)) {
    for (int i = 0; i < 8; ++i) ReadPages(Stretch(program.blocks.left, kBytes, random));
    usleep(1000);
    if (program.move.load() && !program.moved.load()) {
      numa_memory::PinTo(numa_memory::FirstCpuOf(2));
      program.moved.store(true);
    }
  }
}

void MovePages(char* start, int node) {
  constexpr size_t kCount = kBytes / kPageBytes;
  std::vector<void*> pages(kCount);
  std::vector<int> nodes(kCount, node);
  std::vector<int> status(kCount);
  for (size_t i = 0; i < kCount; ++i) pages[i] = start + i * kPageBytes;
  if (syscall(SYS_move_pages, 0, kCount, pages.data(), nodes.data(), status.data(), 2) < 0) {
    numa_memory::Die("move_pages");
  }
}

void TouchAll(Blocks& blocks) {
  numa_memory::PinTo(numa_memory::FirstCpuOf(0));
  blocks.blocked = AllocateBlocked();
  blocks.bound = AllocateBound();
  blocks.written = AllocateWritten();
  blocks.migrated = AllocateMigrated();
  uint64_t node_3 = 1u << 3;
  if (syscall(SYS_mbind, blocks.bound, kBytes, MPOL_BIND, &node_3, 64, 0) != 0) {
    numa_memory::Die("mbind");
  }
  memset(blocks.blocked, 1, kBlockedBytes);
  memset(blocks.bound, 1, kBytes);
  memset(blocks.written, 1, kBytes);
  memset(blocks.migrated, 1, kBytes);
}

void Obey(Program& program) {
  char line[16];
  while (fgets(line, sizeof(line), stdin) != nullptr) {
    MovePages(program.blocks.migrated, 3);
    program.move.store(true);
    while (!program.moved.load()) usleep(1000);
    printf("moved\n");
    fflush(stdout);
  }
}

}  // namespace

int main() {
  static Program program;
  TouchAll(program.blocks);
  std::vector<std::thread> threads;
  for (int node = 0; node < kNodes; ++node) threads.emplace_back(Work, std::ref(program), node);
  threads.emplace_back(MoveAway, std::ref(program));
  program.ready.arrive_and_wait();
  printf("{\"main\": %d, \"workers\": [%d, %d, %d, %d], \"mover\": %d}\n", Tid(),
         program.worker_tids[0], program.worker_tids[1], program.worker_tids[2],
         program.worker_tids[3], program.mover_tid);
  fflush(stdout);
  Obey(program);
  program.stop.store(true);
  for (std::thread& thread : threads) thread.join();
  return 0;
}
