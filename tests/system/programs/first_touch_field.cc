// The fault of examples/one_thread_first_touch with threads pinned: a thread on node 0 allocates a
// field and touches all of it, then a thread on each node with a CPU works on a part of its own.
//
//   first_touch_field
//
// Prints as one line of JSON where the field and its parts are, then works until standard input
// ends. Where the pages really lie is for the test to ask, from outside.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/programs/ground_truth.h"
#include "tests/system/programs/numa_memory.h"
#include "tests/system/programs/stretch.h"

namespace {

using numa_memory::kPageBytes;

constexpr size_t kFieldBytes = size_t{16} << 20;

struct Part {
  int cpu = 0;
  int node = 0;
  char* start = nullptr;
  size_t bytes = 0;
};

[[gnu::noinline]] char* AllocateField() { return ground_truth::Kept<char>(malloc(kFieldBytes)); }

// In small pages: of so few huge ones no even share could be expected on each node.
[[gnu::noinline]] void FillField(char* field) {
  char* page = field + (kPageBytes - reinterpret_cast<size_t>(field) % kPageBytes);
  if (madvise(page, kFieldBytes - 2 * kPageBytes, MADV_NOHUGEPAGE) != 0) {
    numa_memory::Die("MADV_NOHUGEPAGE");
  }
  memset(field, 1, kFieldBytes);
}

void Sweep(const Part& part, const std::atomic<bool>& stop) {
  numa_memory::PinTo(part.cpu);
  uint64_t random = static_cast<uint64_t>(part.cpu) + 1;
  const size_t pages = (part.bytes - stretch::kBytes) / kPageBytes + 1;
  while (!stop.load(std::memory_order_relaxed)) {
    for (int i = 0; i < 256; ++i) {
      random = ground_truth::NextRandom(random);
      stretch::WorkOnPages(part.start + (random >> 33) % pages * kPageBytes);
    }
    usleep(1000);  // on crowded CPUs the agent's thread would get no turn
  }
}

// From the first whole page on.
std::vector<Part> PartsOf(char* field) {
  std::vector<Part> parts;
  for (int node = 0; node < numa_memory::NodeCount(); ++node) {
    const int cpu = numa_memory::FirstCpuOf(node);
    if (cpu >= 0) parts.push_back({cpu, node, nullptr, 0});
  }
  const size_t offset = kPageBytes - reinterpret_cast<size_t>(field) % kPageBytes;
  const size_t pages = (kFieldBytes - offset) / kPageBytes;
  for (size_t i = 0; i < parts.size(); ++i) {
    const size_t first = pages * i / parts.size();
    const size_t end = pages * (i + 1) / parts.size();
    parts[i].start = field + offset + first * kPageBytes;
    parts[i].bytes = (end - first) * kPageBytes;
  }
  return parts;
}

void Print(const std::vector<Part>& parts) {
  printf("{\"pid\": %d, \"parts\": [", static_cast<int>(getpid()));
  const char* separator = "";
  for (const Part& part : parts) {
    printf("%s{\"node\": %d, \"start\": %zu, \"bytes\": %zu}", separator, part.node,
           reinterpret_cast<size_t>(part.start), part.bytes);
    separator = ", ";
  }
  printf("]}\n");
  fflush(stdout);
}

}  // namespace

int main() {
  numa_memory::PinTo(numa_memory::FirstCpuOf(0));
  char* field = AllocateField();
  if (field == nullptr) return 1;
  FillField(field);
  const std::vector<Part> parts = PartsOf(field);
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (const Part& part : parts) threads.emplace_back(Sweep, part, std::cref(stop));
  Print(parts);
  while (getchar() != EOF) {
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  free(field);
  return 0;
}
