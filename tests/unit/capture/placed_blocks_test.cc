#include "agent/capture/placed_blocks.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace memagent::capture {
namespace {

constexpr uint64_t kStep = 64 << 10;

uint64_t Address(uint64_t i) { return 0x7f0000000010 + i * kStep; }
PlacedBlock Block(uint64_t i, uint32_t rule = 0) { return {Address(i), kStep / 2, rule, false}; }
PlacedBlock Mapping(uint64_t i, uint32_t rule = 0) { return {Address(i), kStep, rule, true}; }

class PlacedBlocksTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(blocks_.Initialise()); }

  std::vector<PlacedBlock> In(uint64_t start, uint64_t end) const {
    std::vector<PlacedBlock> found;
    blocks_.ForEachIn(start, end, [&](const PlacedBlock& block) { found.push_back(block); });
    return found;
  }

  PlacedBlocks blocks_;
};

TEST_F(PlacedBlocksTest, OnlyWhatWasAddedCanBeRemovedOnce) {
  EXPECT_FALSE(blocks_.Remove(Address(1)));
  EXPECT_TRUE(blocks_.Add(Block(1)));
  EXPECT_FALSE(blocks_.Remove(Address(2)));
  EXPECT_TRUE(blocks_.Remove(Address(1)));
  EXPECT_FALSE(blocks_.Remove(Address(1)));
}

TEST(PlacedBlocks, WithoutMemoryNothingIsAdded) {
  PlacedBlocks blocks;
  EXPECT_FALSE(blocks.Add(Block(1)));
  EXPECT_FALSE(blocks.Remove(Address(1)));
  blocks.ForEachIn(0, UINT64_MAX, [](const PlacedBlock&) { FAIL(); });
}

TEST_F(PlacedBlocksTest, BlocksAreBoundedAndRoomComesBack) {
  uint64_t added = 0;
  while (added < 2 * PlacedBlocks::kMaxBlocks && blocks_.Add(Block(added))) ++added;
  EXPECT_EQ(added, PlacedBlocks::kMaxBlocks);
  EXPECT_TRUE(blocks_.Remove(Address(0)));
  EXPECT_TRUE(blocks_.Add(Block(added)));
  EXPECT_FALSE(blocks_.Add(Block(added + 1)));
}

TEST_F(PlacedBlocksTest, BlocksOfARangeAreFoundWithSizeAndRule) {
  for (uint64_t i = 0; i < 10; ++i) blocks_.Add(Block(i, static_cast<uint32_t>(i)));
  const auto found = In(Address(3) + kStep / 4, Address(4) + 1);
  ASSERT_EQ(found.size(), 2u);
  for (const PlacedBlock& block : found) {
    EXPECT_EQ(block.size, kStep / 2);
    EXPECT_EQ(Address(block.rule), block.start);
    EXPECT_FALSE(block.mapping);
  }
  EXPECT_TRUE(In(Address(3) + kStep / 2, Address(4)).empty());
}

TEST_F(PlacedBlocksTest, MappingAndItsFirstBlockAreToldApart) {
  blocks_.Add(Mapping(1, 5));
  blocks_.Add(Block(1, 6));
  EXPECT_TRUE(blocks_.Remove(Address(1)));
  ASSERT_EQ(In(Address(1), Address(2)).size(), 1u);
  EXPECT_EQ(In(Address(1), Address(2)).front().rule, 5u);
  EXPECT_FALSE(blocks_.Remove(Address(1)));
}

TEST_F(PlacedBlocksTest, UnmappingForgetsWholeMappingsAndMappingAnewAnyPart) {
  blocks_.Add(Mapping(1));
  blocks_.Add(Block(1));
  blocks_.ForgetMappings(Address(1) + 1, Address(2), true);
  EXPECT_EQ(In(Address(1), Address(2)).size(), 2u);
  blocks_.ForgetMappings(Address(1) + 1, Address(2), false);
  EXPECT_EQ(In(Address(1), Address(2)).size(), 1u);
  blocks_.Add(Mapping(1));
  blocks_.ForgetMappings(Address(1), Address(2), true);
  EXPECT_EQ(In(Address(1), Address(2)).size(), 1u);
  EXPECT_TRUE(blocks_.Remove(Address(1)));
}

TEST_F(PlacedBlocksTest, ThreadsAddAndRemoveTheirOwnWhileOneLooks) {
  std::vector<std::thread> threads;
  std::atomic<uint64_t> wrong{0};
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, &wrong, t] {
      for (uint64_t i = 0; i < 2000; ++i) {
        const uint64_t at = t * 100000 + i % 500;
        if (!blocks_.Add({Address(at), 100 + t, t, false}) || !blocks_.Remove(Address(at))) ++wrong;
      }
    });
  }
  for (int i = 0; i < 100; ++i) {
    for (const PlacedBlock& block : In(0, UINT64_MAX)) {
      if (block.size != 100 + block.rule) ++wrong;
      if ((block.start - Address(0)) / kStep / 100000 != block.rule) ++wrong;
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace memagent::capture
