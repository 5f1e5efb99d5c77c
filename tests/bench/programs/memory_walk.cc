// A program that waits for memory: a fixed number of dependent loads in some MiB on each thread.
// Prints milliseconds of CPU time of one thread; what a sampler adds shows here.
//
//   memory_walk [STEPS] [THREADS] [MIB]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "tests/bench/programs/clock.h"

namespace {

// One cycle through all cells in random order (Sattolo).
std::vector<uint64_t> MakeCycle(size_t cells) {
  std::vector<uint64_t> next(cells);
  std::iota(next.begin(), next.end(), 0);
  std::mt19937_64 random(1);
  for (size_t i = cells - 1; i > 0; --i) std::swap(next[i], next[random() % i]);
  return next;
}

void Walk(const std::vector<uint64_t>& next, uint64_t steps, double* millis) {
  const double start = ThreadCpuSeconds();
  uint64_t at = 0;
  for (uint64_t i = 0; i < steps; ++i) at = next[at];
  asm volatile("" : : "r"(at));
  *millis = (ThreadCpuSeconds() - start) * 1e3;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t steps = argc > 1 ? strtoul(argv[1], nullptr, 10) : 10000000;
  const int count = argc > 2 ? atoi(argv[2]) : 1;
  const size_t mebibytes = argc > 3 ? strtoul(argv[3], nullptr, 10) : 48;
  const std::vector<uint64_t> next = MakeCycle((mebibytes << 20) / sizeof(uint64_t));
  std::vector<double> millis(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (double& result : millis)
    threads.emplace_back([&next, steps, &result] { Walk(next, steps, &result); });
  for (std::thread& thread : threads) thread.join();
  printf("%.3f\n", std::accumulate(millis.begin(), millis.end(), 0.0) / count);
  return 0;
}
