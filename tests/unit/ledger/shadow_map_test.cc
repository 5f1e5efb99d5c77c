// The map never touches the memory it describes, so the tests use made-up addresses, each test its
// own range, and a made-up clock.
#include "agent/ledger/shadow_map.h"

#include <gtest/gtest.h>

#include <vector>

namespace memagent::ledger {
namespace {

constexpr SiteId kSite{7};
constexpr SiteId kOther{9};
constexpr EventTime kBorn = 1000;
constexpr EventTime kDied = 2000;
constexpr EventTime kNow = 3000;

uint64_t FreshRange() {
  static uint64_t next = 0x100000000000;
  next += uint64_t{1} << 32;
  return next;
}

class ShadowMap : public testing::Test {
 protected:
  void SetUp() override {
    SetHistoryWanted(true);
    SetSettled(500);
  }
  void TearDown() override {
    SetHistoryWanted(false);
    SetSettled(0);
  }

  InsertResult Insert(uint64_t start, uint64_t size, SiteId site = kSite, EventTime now = kBorn) {
    displaced_ = {};
    if (TryInsertBlock(start, size, site, now)) return InsertResult::kOk;
    return InsertBlock(start, size, site, now, displaced_);
  }
  bool Erase(uint64_t start, EventTime now = kDied) {
    displaced_ = {};
    return TryEraseBlock(start, now, erased_) || EraseBlock(start, now, erased_, displaced_);
  }
  // The site found at `address` at `moment`; kUnknown: none.
  static SiteId SiteAt(uint64_t address, EventTime moment = kNow - 1, EventTime now = kNow) {
    Block block;
    if (LookUpBlock(address, moment, now, block) != SlotVerdict::kBlock) return SiteId::kUnknown;
    EXPECT_LT(address - block.start, block.size);
    return block.site;
  }

  uint64_t base_ = FreshRange();
  Displaced displaced_;
  Block erased_;
};

TEST_F(ShadowMap, EverySmallSizeIsStoredExactly) {
  for (uint64_t size = 0; size <= 200; ++size) {
    const uint64_t start = base_ + size * 256 + size % 4 * 8;
    ASSERT_EQ(Insert(start, size), InsertResult::kOk);
    Block block;
    ASSERT_TRUE(FindBlock(start, block));
    EXPECT_EQ(block.start, start);
    EXPECT_EQ(block.size, size);
    EXPECT_EQ(block.site, kSite);
    for (uint64_t offset = 0; offset < size; ++offset) ASSERT_EQ(SiteAt(start + offset), kSite);
    EXPECT_EQ(SiteAt(start + size), SiteId::kUnknown) << size;
    EXPECT_EQ(SiteAt(start - 1), SiteId::kUnknown) << size;
    ASSERT_TRUE(Erase(start));
    EXPECT_EQ(erased_.size, size);
    EXPECT_FALSE(FindBlock(start, block));
    EXPECT_FALSE(Erase(start));
  }
}

TEST_F(ShadowMap, UnalignedGapsOfEightBytesKeepNeighboursApart) {
  ASSERT_EQ(Insert(base_ + 8, 24), InsertResult::kOk);
  ASSERT_EQ(Insert(base_ + 40, 24, kOther), InsertResult::kOk);
  EXPECT_EQ(SiteAt(base_ + 7), SiteId::kUnknown);
  EXPECT_EQ(SiteAt(base_ + 8), kSite);
  EXPECT_EQ(SiteAt(base_ + 31), kSite);
  EXPECT_EQ(SiteAt(base_ + 32), SiteId::kUnknown);
  EXPECT_EQ(SiteAt(base_ + 39), SiteId::kUnknown);
  EXPECT_EQ(SiteAt(base_ + 40), kOther);
  EXPECT_EQ(SiteAt(base_ + 63), kOther);
}

TEST_F(ShadowMap, NeighboursOf32BytesEachAnswerForThemselves) {
  for (uint32_t i = 0; i < 100; ++i) {
    ASSERT_EQ(Insert(base_ + i * 32, 32, SiteId{i + 1}), InsertResult::kOk);
  }
  for (uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(SiteAt(base_ + i * 32), SiteId{i + 1});
    EXPECT_EQ(SiteAt(base_ + i * 32 + 31), SiteId{i + 1});
  }
}

TEST_F(ShadowMap, SmallBlockAcrossAMarkerBoundaryIsFoundBeyondIt) {
  const uint64_t boundary = base_ + kMarkerSpan;
  for (uint64_t size : {32, 64, 4096, 8192, 16383}) {
    for (uint64_t inside : {uint64_t{8}, uint64_t{16}, size / 2 / 8 * 8, (size - 1) / 8 * 8}) {
      const uint64_t start = boundary - inside;
      if (inside >= size) continue;
      ASSERT_EQ(Insert(start, size), InsertResult::kOk);
      EXPECT_EQ(SiteAt(boundary), kSite) << size << " " << inside;
      EXPECT_EQ(SiteAt(start + size - 1), kSite) << size << " " << inside;
      EXPECT_EQ(SiteAt(start + size), SiteId::kUnknown) << size << " " << inside;
      ASSERT_TRUE(Erase(start));
    }
  }
}

TEST_F(ShadowMap, InteriorOfLargeBlocksIsFoundAtEveryOffset) {
  uint64_t start = base_ + 16;
  for (uint64_t size : {kLargeBlock - 1, kLargeBlock, kLargeBlock + 1, uint64_t{100'000},
                        kChunkSpan - 1, kChunkSpan, 3 * kChunkSpan + 12345}) {
    ASSERT_EQ(Insert(start, size), InsertResult::kOk);
    for (uint64_t offset = 0; offset < size; offset += 1 + size / 997) {
      ASSERT_EQ(SiteAt(start + offset), kSite) << size << " + " << offset;
    }
    EXPECT_EQ(SiteAt(start + size - 1), kSite);
    EXPECT_EQ(SiteAt(start + size), SiteId::kUnknown);
    EXPECT_EQ(SiteAt(start - 1), SiteId::kUnknown);
    start += size + 64 - (size % 32);
  }
}

TEST_F(ShadowMap, BlockOf64GiBIsFoundInEveryChunk) {
  const uint64_t start = 0x200000000000 + 16;
  const uint64_t size = uint64_t{64} << 30;
  ASSERT_EQ(Insert(start, size), InsertResult::kOk);
  for (uint64_t offset = 0; offset < size; offset += kChunkSpan / 2) {
    ASSERT_EQ(SiteAt(start + offset), kSite) << offset;
  }
  EXPECT_EQ(SiteAt(start + size), SiteId::kUnknown);
}

TEST_F(ShadowMap, SmallBlocksThatShareAGranuleAreKeptApart) {
  for (uint32_t i = 0; i < 4; ++i) {
    ASSERT_EQ(Insert(base_ + i * 8, 8, SiteId{i + 1}), InsertResult::kOk);
  }
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(SiteAt(base_ + i * 8 + 7), SiteId{i + 1});
    EXPECT_EQ(SiteAt(base_ + i * 8, kBorn - 1), SiteId::kUnknown);
    Block block;
    EXPECT_TRUE(FindBlock(base_ + i * 8, block));
    EXPECT_EQ(block.site, SiteId{i + 1});
  }
  for (uint32_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(Erase(base_ + i * 8));
    EXPECT_EQ(erased_.site, SiteId{i + 1});
    EXPECT_EQ(erased_.size, 8u);
    ASSERT_EQ(displaced_.count, 1);
    EXPECT_EQ(displaced_.blocks[0].start, base_ + i * 8);
    EXPECT_EQ(SiteAt(base_ + i * 8 + 7), SiteId::kUnknown);
    EXPECT_FALSE(Erase(base_ + i * 8));
  }
}

TEST_F(ShadowMap, BigBlockBesideASmallOneInAGranuleIsRefused) {
  ASSERT_EQ(Insert(base_, 16), InsertResult::kOk);
  EXPECT_EQ(Insert(base_ + 16, 63, kOther), InsertResult::kOccupied);
  EXPECT_EQ(SiteAt(base_ + 8), kSite);
  EXPECT_EQ(SiteAt(base_ + 16), SiteId::kUnknown);
  ASSERT_TRUE(Erase(base_));
  EXPECT_EQ(Insert(base_ + 16, 63, kOther), InsertResult::kOk);
}

TEST_F(ShadowMap, MissedFreeInASharedGranuleIsSeenWhenTheAddressIsGivenOutAgain) {
  ASSERT_EQ(Insert(base_, 16), InsertResult::kOk);
  ASSERT_EQ(Insert(base_ + 16, 16, kOther), InsertResult::kOk);
  ASSERT_TRUE(Erase(base_));
  ASSERT_EQ(Insert(base_ + 16, 24, SiteId{3}, kDied), InsertResult::kOk);
  EXPECT_TRUE(displaced_.missed_free);
  EXPECT_EQ(displaced_.missed.site, kOther);
  EXPECT_EQ(SiteAt(base_ + 16), SiteId{3});
  ASSERT_TRUE(Erase(base_ + 16));
  EXPECT_FALSE(Erase(base_ + 16));
}

TEST_F(ShadowMap, AddressBeyondUserSpaceIsRefused) {
  EXPECT_EQ(Insert(uint64_t{1} << 47, 16), InsertResult::kNoMemory);
  EXPECT_FALSE(Erase(uint64_t{1} << 60));
  EXPECT_EQ(SiteAt(~uint64_t{0}), SiteId::kUnknown);
  EXPECT_EQ(SiteAt(0), SiteId::kUnknown);
}

TEST_F(ShadowMap, BlockGivenOutTwiceIsAMissedFree) {
  ASSERT_EQ(Insert(base_, 100), InsertResult::kOk);
  ASSERT_EQ(Insert(base_, 48, kOther, kDied), InsertResult::kOk);
  EXPECT_TRUE(displaced_.missed_free);
  EXPECT_EQ(displaced_.missed.size, 100u);
  EXPECT_EQ(displaced_.missed.site, kSite);
  EXPECT_EQ(SiteAt(base_), kOther);
}

TEST_F(ShadowMap, EraseNeedsTheExactStart) {
  ASSERT_EQ(Insert(base_, 100), InsertResult::kOk);
  EXPECT_FALSE(Erase(base_ + 8));
  EXPECT_FALSE(Erase(base_ + 32));
  EXPECT_FALSE(Erase(base_ + 64));
  EXPECT_TRUE(Erase(base_));
}

TEST_F(ShadowMap, LiveBlockIsNotFoundBeforeItsBirth) {
  ASSERT_EQ(Insert(base_, 100), InsertResult::kOk);
  EXPECT_EQ(SiteAt(base_, kBorn - 1), SiteId::kUnknown);
  EXPECT_EQ(SiteAt(base_, kBorn), kSite);
}

TEST_F(ShadowMap, OldBlockStaysInItsSlotWhenDead) {
  ASSERT_EQ(Insert(base_, 100, kSite, 400), InsertResult::kOk);  // born before everything pending
  ASSERT_TRUE(Erase(base_));
  EXPECT_EQ(displaced_.count, 0);
  EXPECT_EQ(SiteAt(base_ + 99, kDied - 1), kSite);
  EXPECT_EQ(SiteAt(base_ + 99, kDied), SiteId::kUnknown);
}

TEST_F(ShadowMap, YoungBlockIsHandedOutWithBothTimesWhenItDies) {
  ASSERT_EQ(Insert(base_, 100), InsertResult::kOk);
  ASSERT_TRUE(Erase(base_));
  ASSERT_EQ(displaced_.count, 1);
  const DeadBlock& dead = displaced_.blocks[0];
  EXPECT_EQ(dead.start, base_);
  EXPECT_EQ(dead.size, 100u);
  EXPECT_EQ(dead.site, kSite);
  EXPECT_EQ(dead.birth, kBorn);
  EXPECT_EQ(dead.death, kDied);
  EXPECT_TRUE(dead.birth_known);
  EXPECT_EQ(SiteAt(base_, kDied - 1), SiteId::kUnknown);  // the history ring answers
}

// Nothing was sampled between two events of one time (hook_clock.h).
TEST_F(ShadowMap, BlockThatDiesAtTheTimeOfItsBirthLeavesNothing) {
  for (uint64_t size : {24, 62, 63, 100}) {
    ASSERT_EQ(Insert(base_, size), InsertResult::kOk);
    ASSERT_TRUE(Erase(base_, kBorn));
    EXPECT_EQ(erased_.size, size);
    EXPECT_EQ(displaced_.count, 0);
    EXPECT_EQ(SiteAt(base_), SiteId::kUnknown);
    ASSERT_EQ(Insert(base_ + 32, 16, kOther), InsertResult::kOk);
    EXPECT_EQ(displaced_.count, 0);
    ASSERT_TRUE(Erase(base_ + 32, kBorn));
  }
}

TEST_F(ShadowMap, GeneralFunctionsAnswerLikeTheShortOnes) {
  displaced_ = {};
  ASSERT_EQ(InsertBlock(base_, 100, kSite, kBorn, displaced_), InsertResult::kOk);
  EXPECT_EQ(SiteAt(base_ + 99), kSite);
  ASSERT_TRUE(EraseBlock(base_, kDied, erased_, displaced_));
  EXPECT_EQ(displaced_.count, 1);
  EXPECT_FALSE(EraseBlock(base_, kDied, erased_, displaced_));
}

TEST_F(ShadowMap, LargeBlockIsHandedOutWhateverItsAge) {
  ASSERT_EQ(Insert(base_, kLargeBlock, kSite, 400), InsertResult::kOk);
  ASSERT_TRUE(Erase(base_));
  ASSERT_EQ(displaced_.count, 1);
  EXPECT_FALSE(displaced_.blocks[0].birth_known);
  EXPECT_EQ(displaced_.blocks[0].size, kLargeBlock);
}

TEST_F(ShadowMap, ReuseHandsOutTheDeadBlockWhileSamplesOfItsTimeArePending) {
  ASSERT_EQ(Insert(base_, 100, kSite, 400), InsertResult::kOk);
  ASSERT_TRUE(Erase(base_));
  ASSERT_EQ(Insert(base_, 48, kOther, kDied + 1), InsertResult::kOk);
  ASSERT_EQ(displaced_.count, 1);
  EXPECT_EQ(displaced_.blocks[0].site, kSite);
  EXPECT_EQ(displaced_.blocks[0].size, 100u);
  EXPECT_EQ(displaced_.blocks[0].death, kDied);
  EXPECT_FALSE(displaced_.blocks[0].birth_known);
  EXPECT_EQ(SiteAt(base_), kOther);
  EXPECT_EQ(SiteAt(base_, kDied), SiteId::kUnknown);
}

TEST_F(ShadowMap, ReuseForgetsTheDeadBlockOnceItsTimeIsSettled) {
  ASSERT_EQ(Insert(base_, 100, kSite, 400), InsertResult::kOk);
  ASSERT_TRUE(Erase(base_));
  SetSettled(kDied + 100);
  ASSERT_EQ(Insert(base_, 48, kOther, kDied + 200), InsertResult::kOk);
  EXPECT_EQ(displaced_.count, 0);
}

TEST_F(ShadowMap, NothingIsHandedOutWhenHistoryIsNotWanted) {
  SetHistoryWanted(false);
  ASSERT_EQ(Insert(base_, kLargeBlock), InsertResult::kOk);
  ASSERT_TRUE(Erase(base_));
  EXPECT_EQ(displaced_.count, 0);
  ASSERT_EQ(Insert(base_, 48, kOther, kDied + 1), InsertResult::kOk);
  EXPECT_EQ(displaced_.count, 0);
}

TEST_F(ShadowMap, BlockOverASizeSlotHandsOutTheSlotsOwner) {
  ASSERT_EQ(Insert(base_, 100, kSite, 400), InsertResult::kOk);
  ASSERT_TRUE(Erase(base_));
  ASSERT_EQ(Insert(base_ + 32, 16, kOther, kDied + 1), InsertResult::kOk);
  ASSERT_EQ(displaced_.count, 1);
  EXPECT_EQ(displaced_.blocks[0].start, base_);
  EXPECT_EQ(displaced_.blocks[0].size, 100u);
}

TEST_F(ShadowMap, SizeSlotOverADeadBlockHandsItOut) {
  ASSERT_EQ(Insert(base_, 16, kSite, 400), InsertResult::kOk);
  ASSERT_EQ(Insert(base_ + 32, 90, kOther, 401), InsertResult::kOk);
  ASSERT_TRUE(Erase(base_));
  ASSERT_TRUE(Erase(base_ + 32));
  ASSERT_EQ(Insert(base_, 63, SiteId{3}, kDied + 1), InsertResult::kOk);
  ASSERT_EQ(displaced_.count, 2);
  EXPECT_EQ(displaced_.blocks[0].site, kSite);
  EXPECT_EQ(displaced_.blocks[1].site, kOther);
  EXPECT_EQ(displaced_.blocks[1].size, 90u);
}

TEST_F(ShadowMap, DeadBlocksInsideANewOneAnswerForTheirTimeOnly) {
  for (uint32_t i = 0; i < 64; ++i) {
    ASSERT_EQ(Insert(base_ + i * 32, 24, SiteId{i + 100}, 400), InsertResult::kOk);
  }
  for (uint32_t i = 0; i < 64; ++i) ASSERT_TRUE(Erase(base_ + i * 32));
  ASSERT_EQ(Insert(base_, 64 * 32, kOther, kDied + 10), InsertResult::kOk);
  for (uint32_t i = 2; i < 64; ++i) {  // the first two slots are overwritten: history
    EXPECT_EQ(SiteAt(base_ + i * 32 + 5, kDied - 1), SiteId{i + 100});
    EXPECT_EQ(SiteAt(base_ + i * 32 + 5), kOther);
  }
}

TEST_F(ShadowMap, RestoredBlockIsLiveForEverySampleThatIsPending) {
  for (uint64_t size : {uint64_t{40}, uint64_t{100}, 5 * kLargeBlock}) {
    ASSERT_EQ(Insert(base_, size, kSite, 400), InsertResult::kOk);
    ASSERT_TRUE(Erase(base_));
    RestoreBlock(erased_);
    EXPECT_EQ(SiteAt(base_ + size - 1, Settled()), kSite);
    EXPECT_EQ(SiteAt(base_ + size - 1), kSite);
    EXPECT_TRUE(Erase(base_));
    EXPECT_EQ(erased_.size, size);
  }
}

TEST_F(ShadowMap, LookUpThatFindsNothingLeavesTheBlockAlone) {
  ASSERT_EQ(Insert(base_, 16), InsertResult::kOk);
  Block block;
  EXPECT_EQ(LookUpBlock(base_ + 20, kNow - 1, kNow, block), SlotVerdict::kNothing);
  EXPECT_EQ(block.site, SiteId::kUnknown);
  EXPECT_EQ(block.start, 0u);
}

TEST_F(ShadowMap, TimesMayWrap) {
  const EventTime now = 100;
  SetSettled(now - 10000);
  ASSERT_EQ(Insert(base_, 100, kSite, now - 5000), InsertResult::kOk);
  EXPECT_EQ(SiteAt(base_, now - 4000, now), kSite);
  EXPECT_EQ(SiteAt(base_, now - 6000, now), SiteId::kUnknown);
  ASSERT_TRUE(Erase(base_, now - 50));
  ASSERT_EQ(displaced_.count, 1);
  EXPECT_TRUE(displaced_.blocks[0].birth_known);
}

TEST_F(ShadowMap, EventALittleAheadOfOurClockIsRecent) {
  ASSERT_EQ(Insert(base_, 100, kSite, kDied + 5), InsertResult::kOk);  // stamped on another CPU
  ASSERT_TRUE(Erase(base_, kDied));
  EXPECT_EQ(displaced_.count, 1);
}

}  // namespace
}  // namespace memagent::ledger
