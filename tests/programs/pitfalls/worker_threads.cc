// Threads that allocate a known number of blocks and then use the CPU: the load for rows about perf
// events and limits.
//
//   worker_threads THREADS BLOCKS SECONDS [fork]
//
// Each thread allocates BLOCKS blocks of 100 bytes at alloc_in_worker and writes to them for
// SECONDS of CPU time. With "fork" a child of main does the same with one thread, at
// alloc_in_child, and main waits for it.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

[[gnu::noinline]] char* alloc_in_worker() { return ground_truth::Kept<char>(malloc(100)); }
[[gnu::noinline]] char* alloc_in_child() { return ground_truth::Kept<char>(malloc(300)); }

void Use(const std::vector<char*>& blocks, double seconds) {
  const double end = ground_truth::ThreadCpuSeconds() + seconds;
  uint64_t random = 1;
  while (ground_truth::ThreadCpuSeconds() < end) {
    for (int i = 0; i < 1000; ++i) {
      random = ground_truth::NextRandom(random);
      auto* byte = reinterpret_cast<volatile char*>(blocks[(random >> 33) % blocks.size()]);
      *byte = static_cast<char>(*byte + 1);
    }
  }
}

void Work(int count, double seconds, char* (*allocate)()) {
  std::vector<char*> blocks;
  blocks.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) blocks.push_back(allocate());
  Use(blocks, seconds);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int thread_count = atoi(argv[1]), blocks = atoi(argv[2]);
  const double seconds = atof(argv[3]);
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i)
    threads.emplace_back(Work, blocks, seconds, alloc_in_worker);
  int status = 0;
  if (argc > 4 && strcmp(argv[4], "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      std::thread(Work, blocks, seconds, alloc_in_child).join();
      _exit(4);
    }
    waitpid(child, &status, 0);
  }
  for (std::thread& thread : threads) thread.join();
  printf("%d threads done, child status %x\n", thread_count, status);
  own_state::Print();
  return 3;
}
