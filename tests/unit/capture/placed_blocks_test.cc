#include "agent/capture/placed_blocks.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace memagent::capture {
namespace {

constexpr uint64_t kStep = 64 << 10;

uint64_t Address(uint64_t i) { return 0x7f0000000010 + i * kStep; }

TEST(PlacedBlocks, OnlyWhatWasAddedCanBeRemovedOnce) {
  PlacedBlocks blocks;
  ASSERT_TRUE(blocks.Initialise());
  EXPECT_FALSE(blocks.Remove(Address(1), 2));
  EXPECT_TRUE(blocks.Add(Address(1), 2));
  EXPECT_FALSE(blocks.Remove(Address(2), 2));
  EXPECT_TRUE(blocks.Remove(Address(1), 2));
  EXPECT_FALSE(blocks.Remove(Address(1), 2));
}

TEST(PlacedBlocks, WithoutMemoryNothingIsAdded) {
  PlacedBlocks blocks;
  EXPECT_FALSE(blocks.Add(Address(1), 2));
  EXPECT_FALSE(blocks.Remove(Address(1), 2));
}

TEST(PlacedBlocks, PiecesAreBoundedAndComeBack) {
  PlacedBlocks blocks;
  ASSERT_TRUE(blocks.Initialise());
  uint64_t added = 0;
  while (added < 2 * PlacedBlocks::kMaxBlocks && blocks.Add(Address(added), 2)) ++added;
  EXPECT_EQ(added, PlacedBlocks::kMaxBlocks);
  EXPECT_FALSE(blocks.Add(Address(added), 1));
  EXPECT_TRUE(blocks.Remove(Address(0), 2));
  EXPECT_TRUE(blocks.Add(Address(added), 2));
}

TEST(PlacedBlocks, ThreadsAddAndRemoveTheirOwn) {
  PlacedBlocks blocks;
  ASSERT_TRUE(blocks.Initialise());
  std::vector<std::thread> threads;
  std::atomic<uint64_t> wrong{0};
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&blocks, &wrong, t] {
      for (uint64_t i = 0; i < 2000; ++i) {
        const uint64_t address = Address(t * 100000 + i % 500);
        if (!blocks.Add(address, 2) || !blocks.Remove(address, 2)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace memagent::capture
