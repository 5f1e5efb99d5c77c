// A load that is never waited for, directly before one that always is: a line in the first cache,
// then the next link of a list in random order through 64 MiB. An interrupt that cuts the slow load
// short must not blame the other (DECISIONS D31).
//
//   accuracy_neighbours [SECONDS]    CPU time (default 3)
//
// The truth of the fast load is what the loop takes without the slow one, which is more than it
// costs beside it.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#include "tests/programs/ground_truth.h"

namespace {

constexpr size_t kLineWords = 8;
constexpr size_t kLines = size_t{1} << 20;
constexpr uint64_t kTurns = 10'000;

[[gnu::noinline]] uint64_t* alloc_line() {
  return ground_truth::Kept<uint64_t>(calloc(kLineWords, sizeof(uint64_t)));
}
[[gnu::noinline]] uint64_t* alloc_list() {
  asm volatile("nop");  // keeps it apart from alloc_line
  return ground_truth::Kept<uint64_t>(malloc(kLines * kLineWords * sizeof(uint64_t)));
}

void LinkRandomly(uint64_t* words) {
  std::vector<uint32_t> order(kLines);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  for (size_t i = 0; i < kLines; ++i) {
    const size_t next = order[(i + 1) % kLines] * kLineWords;
    words[order[i] * kLineWords] = reinterpret_cast<uint64_t>(&words[next]);
  }
}

[[gnu::noinline]] uint64_t* ReadBoth(const uint64_t* line, uint64_t* at) {
#if defined(__x86_64__)
  uint64_t turns = kTurns;
  uint64_t value = 0;
  asm volatile("1: mov (%3),%2\n mov (%0),%0\n dec %1\n jne 1b"
               : "+r"(at), "+r"(turns), "+r"(value)
               : "r"(line)
               : "cc", "memory");
  return at;
#else
  for (uint64_t i = 0; i < kTurns; ++i) {
    uint64_t value = *line;
    ground_truth::Escape(value);
    at = reinterpret_cast<uint64_t*>(*at);
    ground_truth::Escape(at);
  }
  return at;
#endif
}

[[gnu::noinline]] void ReadLine(const uint64_t* line) {
  for (uint64_t i = 0; i < kTurns; ++i) {
    uint64_t value = *line;
    ground_truth::Escape(value);
  }
}

double SecondsOfLineAlone(const uint64_t* line) {
  constexpr int kTimes = 1000;
  const double start = ground_truth::ThreadCpuSeconds();
  for (int i = 0; i < kTimes; ++i) ReadLine(line);
  return (ground_truth::ThreadCpuSeconds() - start) / kTimes;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = ground_truth::SecondsArgument(argc, argv, 1, 3);
  const uint64_t* const line = alloc_line();
  uint64_t* at = alloc_list();
  LinkRandomly(at);
  const double start = ground_truth::ThreadCpuSeconds();
  double spent = 0;
  uint64_t calls = 0;
  for (; spent < seconds; spent = ground_truth::ThreadCpuSeconds() - start, ++calls) {
    at = ReadBoth(line, at);
  }
  ground_truth::Escape(at);
  const double share = std::min(1.0, SecondsOfLineAlone(line) * static_cast<double>(calls) / spent);
  printf("{\"cpu_seconds\": %.6f, \"shares\": {\"alloc_line\": %.6f, \"alloc_list\": %.6f}}\n",
         spent, share, 1 - share);
  return 0;
}
