// Threads that come and go: each allocates, touches, frees and ends at once.
//
//   thread_churn [THREADS]    (default 2000)
#include <cstddef>
#include <cstdio>
#include <thread>

#include "tests/programs/ground_truth.h"

namespace {

constexpr size_t kBytes = 4096;

[[gnu::noinline]] char* alloc_in_thread() { return ground_truth::Kept<char>(malloc(kBytes)); }

void Run() {
  char* block = alloc_in_thread();
  for (size_t i = 0; i < kBytes; i += 64) block[i] = 1;
  ground_truth::Escape(block);
  free(block);
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 2000;
  for (int i = 0; i < threads; i += 4) {
    std::thread first(Run), second(Run), third(Run), fourth(Run);
    first.join();
    second.join();
    third.join();
    fourth.join();
  }
  printf("{\"site\": \"alloc_in_thread\", \"allocations\": %d, \"threads\": %d}\n",
         (threads + 3) / 4 * 4, (threads + 3) / 4 * 4);
  return 0;
}
