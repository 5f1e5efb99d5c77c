// Cost of malloc and free in a loop: 16 call sites at depth 12, sizes 16 to 256 bytes, a window of
// live blocks for each thread. Prints nanoseconds of thread CPU time for each pair.
//
//   malloc_pairs [PAIRS] [THREADS] [LIVE]
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/bench/programs/call_sites.h"
#include "tests/bench/programs/clock.h"

namespace {

void Work(long pairs, size_t live, double* nanos) {
  Window window(live);
  const double start = ThreadCpuSeconds();
  window.RunPairs(pairs);
  *nanos = (ThreadCpuSeconds() - start) / static_cast<double>(pairs) * 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  const long pairs = argc > 1 ? atol(argv[1]) : 5000000;
  const int count = argc > 2 ? atoi(argv[2]) : 1;
  const size_t live = argc > 3 ? strtoul(argv[3], nullptr, 10) : 64;
  std::vector<double> nanos(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (double& result : nanos) threads.emplace_back(Work, pairs, live, &result);
  double sum = 0;
  for (size_t i = 0; i < threads.size(); ++i) {
    threads[i].join();
    sum += nanos[i];
  }
  printf("%.3f\n", sum / count);
  return 0;
}
