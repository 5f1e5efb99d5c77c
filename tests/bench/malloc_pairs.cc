// Cost of malloc and free in a loop: 16 call sites at depth 12, sizes 16 to 256 bytes, a window of
// 64 live blocks. Prints nanoseconds of thread CPU time for each pair.
//
//   malloc_pairs [PAIRS] [THREADS]
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <utility>
#include <vector>

namespace {

double CpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void* Keep(void* block) {
  asm volatile("" : "+r"(block));  // no tail call: each level stays on the stack
  return block;
}

template <int kSite, int kDepth>
[[gnu::noinline]] void* Allocate(size_t bytes) {
  if constexpr (kDepth == 0) {
    return Keep(malloc(bytes));
  } else {
    return Keep(Allocate<kSite, kDepth - 1>(bytes));
  }
}

template <int... kSites>
constexpr auto MakeTable(std::integer_sequence<int, kSites...>) {
  using Function = void* (*)(size_t);
  return std::array<Function, sizeof...(kSites)>{&Allocate<kSites, 10>...};
}
constexpr auto kTable = MakeTable(std::make_integer_sequence<int, 16>());

void Work(long pairs, double* nanos) {
  void* window[64] = {};
  uint64_t state = 1;
  const double start = CpuSeconds();
  for (long i = 0; i < pairs; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    void*& place = window[state >> 33 & 63];
    free(place);
    place = kTable[state >> 40 & 15](16 + (state >> 45 & 255) % 241);
  }
  *nanos = (CpuSeconds() - start) / static_cast<double>(pairs) * 1e9;
  for (void* block : window) free(block);
}

}  // namespace

int main(int argc, char** argv) {
  const long pairs = argc > 1 ? atol(argv[1]) : 5000000;
  const int count = argc > 2 ? atoi(argv[2]) : 1;
  std::vector<double> nanos(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (double& result : nanos) threads.emplace_back(Work, pairs, &result);
  double sum = 0;
  for (size_t i = 0; i < threads.size(); ++i) {
    threads[i].join();
    sum += nanos[i];
  }
  printf("%.2f\n", sum / count);
  return 0;
}
