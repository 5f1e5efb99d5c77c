// Two threads count into two counters that happen to share one cache line: the line moves between
// the cores at every update, although no datum is shared.
//
//   false_sharing [SCALE]    SCALE times as many updates (default 1)
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

namespace {

constexpr uint64_t kUpdatesPerScale = 80'000'000;

// The fault: 16 bytes, so both counters are in one line. alignas(64) on each member would part
// them.
struct Counters {
  std::atomic<uint64_t> left;
  std::atomic<uint64_t> right;
};

[[gnu::noinline]] Counters* AllocateCounters() { return new (std::align_val_t{64}) Counters{}; }

[[gnu::noinline]] void CountUp(std::atomic<uint64_t>* counter, uint64_t updates) {
  for (uint64_t i = 0; i < updates; ++i) counter->fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t updates = kUpdatesPerScale * static_cast<uint64_t>(argc > 1 ? atoi(argv[1]) : 1);
  Counters* counters = AllocateCounters();
  std::thread left(CountUp, &counters->left, updates);
  std::thread right(CountUp, &counters->right, updates);
  left.join();
  right.join();
  printf("false_sharing: %llu updates\n",
         static_cast<unsigned long long>(counters->left + counters->right));
  operator delete (counters, std::align_val_t{64});
  return 0;
}
