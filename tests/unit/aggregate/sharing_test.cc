#include "agent/aggregate/sharing.h"

#include <gtest/gtest.h>

namespace memagent::aggregate {
namespace {

constexpr NodeId kNear{0};
constexpr NodeId kFar{1};
constexpr uint64_t kBlock = 0x100000;

class SharingTest : public testing::Test {
 protected:
  void Note(uint64_t address, uint32_t thread, NodeId node, bool stored = false,
            uint64_t block = kBlock) {
    sharing_.Note(address, block, {0, thread, node, stored}, room_);
  }
  const SharingCounts& Of(SharingUnit unit) const { return sharing_.Of(unit); }

  SharingRoom room_;
  Sharing sharing_;
};

TEST_F(SharingTest, APairIsOfTwoSamplesInOneUnit) {
  Note(kBlock, 1, kNear);
  Note(kBlock + 63, 1, kNear);    // the same line
  Note(kBlock + 64, 1, kNear);    // the next one, in the same page
  Note(kBlock + 4096, 1, kNear);  // the next page
  EXPECT_EQ(Of(SharingUnit::kLine).pairs, 1u);
  EXPECT_EQ(Of(SharingUnit::kPage).pairs, 2u);
  EXPECT_EQ(Of(SharingUnit::kHugePage).pairs, 3u);
  EXPECT_EQ(Of(SharingUnit::kBlock).pairs, 3u);
  EXPECT_EQ(Of(SharingUnit::kBlock).same_thread, 3u);
  EXPECT_EQ(Of(SharingUnit::kBlock).same_node, 3u);
  EXPECT_EQ(Of(SharingUnit::kBlock).other_node_written, 0u);
}

TEST_F(SharingTest, ThreadsNodesAndStoresAreToldApart) {
  Note(kBlock, 1, kNear);
  Note(kBlock, 2, kNear);        // another thread, one node
  Note(kBlock, 3, kFar);         // two nodes, only read
  Note(kBlock, 1, kNear, true);  // two nodes, written
  Note(kBlock, 3, kFar);         // written just before
  Note(kBlock, 1, kNear);        // not any more
  const SharingCounts& line = Of(SharingUnit::kLine);
  EXPECT_EQ(line.pairs, 5u);
  EXPECT_EQ(line.same_thread, 0u);
  EXPECT_EQ(line.same_node, 1u);
  EXPECT_EQ(line.other_node_written, 2u);
}

TEST_F(SharingTest, BlocksAreUnitsWhateverTheirSize) {
  Note(kBlock, 1, kNear, false, kBlock);
  Note(kBlock + 32, 2, kNear, false, kBlock + 32);  // another block in the same line
  Note(kBlock + 40, 2, kNear, false, kBlock + 32);
  Note(kBlock + 40, 2, kNear, false, 0);  // its block is not known
  EXPECT_EQ(Of(SharingUnit::kLine).pairs, 3u);
  EXPECT_EQ(Of(SharingUnit::kBlock).pairs, 1u);
  EXPECT_EQ(Of(SharingUnit::kBlock).same_thread, 1u);
}

// Of 100,000 pages, each accessed by two threads in turn and then by the same one twice: 2 of 3 pairs
// are of two threads, whichever units stay watched.
TEST_F(SharingTest, SharesStayRightWhenUnitsAreDropped) {
  constexpr uint64_t kPages = 100'000;
  for (const uint32_t thread : {1u, 2u, 1u, 1u}) {
    for (uint64_t page = 0; page < kPages; ++page) Note(page << 12, thread, kNear);
  }
  const SharingCounts& pages = Of(SharingUnit::kPage);
  EXPECT_GT(pages.pairs, 3 * LastAccesses::kMaxUnits / 4);
  EXPECT_NEAR(static_cast<double>(pages.same_thread) / static_cast<double>(pages.pairs), 1. / 3,
              0.01);
}

TEST(LastAccesses, WatchesAllUnitsUpToTheLimitAndThenAtMostThatMany) {
  LastAccesses last;
  SharingCounts counts;
  SharingRoom room;
  for (uint64_t unit = 1; unit <= LastAccesses::kMaxUnits; ++unit) {
    last.Note({unit, 1, kNear, false}, counts, room);
  }
  EXPECT_EQ(last.watched(), LastAccesses::kMaxUnits);
  for (uint64_t unit = 1; unit <= LastAccesses::kMaxUnits; ++unit) {
    last.Note({unit, 1, kNear, false}, counts, room);
  }
  EXPECT_EQ(counts.pairs, LastAccesses::kMaxUnits);
  for (uint64_t unit = 1; unit <= 1'000'000; ++unit) {
    last.Note({unit, 1, kNear, false}, counts, room);
    ASSERT_LE(last.watched(), LastAccesses::kMaxUnits);
  }
  EXPECT_GT(last.watched(), LastAccesses::kMaxUnits / 4);
}

TEST(LastAccesses, WithoutRoomATableKeepsItsSize) {
  LastAccesses last;
  SharingCounts counts;
  SharingRoom room;
  ASSERT_TRUE(room.Take(room.left() - 10));
  for (uint64_t unit = 1; unit <= 1000; ++unit) {
    last.Note({unit, 1, kNear, false}, counts, room);
    ASSERT_LE(last.watched(), 6u);  // of 8 entries
  }
  EXPECT_EQ(room.left(), 2u);
  LastAccesses none;
  ASSERT_TRUE(room.Take(2));
  none.Note({7, 1, kNear, false}, counts, room);
  EXPECT_EQ(none.watched(), 0u);
}

}  // namespace
}  // namespace memagent::aggregate
