// N threads alive together, each working on its own allocation until all have worked.
//
//   many_threads [THREADS [MILLISECONDS_EACH]]    (default 200 and 10)
#include <barrier>
#include <cstddef>
#include <cstdio>
#include <thread>
#include <vector>

#include "tests/programs/ground_truth.h"

namespace {

constexpr size_t kCells = size_t{1} << 14;

[[gnu::noinline]] volatile uint64_t* alloc_in_thread() {
  return ground_truth::Kept<uint64_t>(calloc(kCells, sizeof(uint64_t)));
}

void Run(double seconds, std::barrier<>& all_here) {
  volatile uint64_t* cells = alloc_in_thread();
  all_here.arrive_and_wait();
  while (ground_truth::ThreadCpuSeconds() < seconds) {
    for (size_t i = 0; i < kCells; ++i) cells[i] = cells[i] + 1;
  }
  all_here.arrive_and_wait();
  free(const_cast<uint64_t*>(cells));
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 200;
  const double seconds = ground_truth::SecondsArgument(argc, argv, 2, 10) / 1000;
  std::barrier<> all_here(threads);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] { Run(seconds, all_here); });
  }
  for (std::thread& thread : running) thread.join();
  printf("{\"site\": \"alloc_in_thread\", \"allocations\": %d, \"threads\": %d}\n", threads,
         threads);
  return 0;
}
