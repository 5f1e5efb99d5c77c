// Row P42: a thread that a library's constructor starts before the profiler's own has run, and that
// calls nothing of libc until it is told to work.
#include <pthread.h>

#include <atomic>
#include <cstddef>

#include "tests/programs/ground_truth.h"

std::atomic<int> early_thread_may_work{0};
pthread_t early_thread;

namespace {

constexpr size_t kCells = size_t{1} << 17;
uint64_t cells[kCells];

[[gnu::noinline]] void* alloc_in_early_thread(size_t bytes) {
  return ground_truth::Kept<void>(malloc(bytes));
}

void* EarlyThread(void*) {
  while (early_thread_may_work.load() == 0) {
  }
  for (int i = 0; i < 200; ++i) free(alloc_in_early_thread(70));
  volatile uint64_t* written = cells;
  const double end = ground_truth::ThreadCpuSeconds() + 0.2;
  while (ground_truth::ThreadCpuSeconds() < end) {
    for (size_t i = 0; i < kCells; ++i) written[i] = written[i] + 1;
  }
  return nullptr;
}

[[gnu::constructor]] void Begin() { pthread_create(&early_thread, nullptr, EarlyThread, nullptr); }

}  // namespace
