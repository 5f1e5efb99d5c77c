// Two threads that insert neighbours into one granule at the same time, as happens with allocators
// of 16-byte classes whose slabs are shared by threads. Made-up addresses.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "agent/ledger/shadow_map.h"

namespace memagent::ledger {
namespace {

constexpr uint64_t kBase = 0x710000000000;
constexpr uint64_t kRounds = 20'000;

// Both threads leave Meet at about the same time.
class MeetingPoint {
 public:
  void Meet(uint64_t round) {
    arrived_.fetch_add(1);
    while (arrived_.load() < 2 * (round + 1)) std::this_thread::yield();
  }

 private:
  std::atomic<uint64_t> arrived_{0};
};

TEST(ShadowMapThreads, NeighboursInsertedAtTheSameTimeAreBothKept) {
  MeetingPoint meeting;
  std::atomic<uint64_t> lost{0};
  std::vector<std::thread> threads;
  for (uint64_t side = 0; side < 2; ++side) {
    threads.emplace_back([&, side] {
      for (uint64_t round = 0; round < kRounds; ++round) {
        const uint64_t start = kBase + round * kGranule + side * 16;
        Displaced displaced;
        Block block;
        meeting.Meet(2 * round);
        InsertBlock(start, 3, SiteId{1}, 1000, displaced);
        meeting.Meet(2 * round + 1);
        if (!EraseBlock(start, 2000, block, displaced) || block.start != start) ++lost;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost.load(), 0u);
}

}  // namespace
}  // namespace memagent::ledger
