// Made-up addresses; times are a little before the real now, as samples' are.
#include "agent/attribute/block_finder.h"

#include <gtest/gtest.h>

#include "agent/ledger/site_table.h"
#include "agent/ledger/thread_record.h"

namespace memagent::attribute {
namespace {

using ledger::Displaced;
using ledger::EventTime;

constexpr SiteId kSite{21};
constexpr SiteId kOther{22};

uint64_t FreshAddress() {
  static uint64_t next = 0x400000000000;
  return next += 1 << 20;
}

class BlockFinderTest : public testing::Test {
 protected:
  void SetUp() override {
    record_ = ledger::RegisterThread(1, false, 0);
    now_ = ledger::Now();
    ledger::SetHistoryWanted(true);
    ledger::SetSettled(now_ - 100'000);
  }
  void TearDown() override {
    finder_.GatherHistory();
    ledger::ReleaseThread(record_);
    ledger::SetHistoryWanted(false);
    ledger::SetSettled(0);
  }

  EventTime Ago(uint32_t units) const { return now_ - units; }
  void Insert(uint64_t size, SiteId site, EventTime when) {
    Displaced displaced;
    ASSERT_EQ(ledger::InsertBlock(address_, size, site, when, displaced),
              ledger::InsertResult::kOk);
    Keep(displaced);
  }
  void Erase(EventTime when) {
    Displaced displaced;
    ledger::Block block;
    ASSERT_TRUE(ledger::EraseBlock(address_, when, block, displaced));
    Keep(displaced);
  }
  void Keep(const Displaced& displaced) {
    for (int i = 0; i < displaced.count; ++i) {
      ASSERT_TRUE(record_->history.Push(displaced.blocks[i]));
    }
  }
  SiteId SiteAt(EventTime moment, uint32_t error = 0) {
    const HeapAnswer answer = finder_.Find(address_ + 8, moment, error);
    return answer.verdict == HeapVerdict::kBlock ? answer.block.site : SiteId::kUnknown;
  }
  HeapVerdict VerdictAt(EventTime moment, uint32_t error = 0) {
    return finder_.Find(address_ + 8, moment, error).verdict;
  }

  ledger::ThreadRecord* record_ = nullptr;
  EventTime now_ = 0;
  uint64_t address_ = FreshAddress();
  BlockFinder finder_;
};

TEST_F(BlockFinderTest, LiveBlockIsFound) {
  Insert(100, kSite, Ago(5000));
  EXPECT_EQ(SiteAt(Ago(10)), kSite);
  EXPECT_EQ(VerdictAt(Ago(6000)), HeapVerdict::kNothing);
}

TEST_F(BlockFinderTest, TwoSitesThatReuseOneAddressAreToldApart) {
  for (uint32_t round = 0; round < 100; ++round) {
    Insert(64, round % 2 == 0 ? kSite : kOther, Ago(20'000 - round * 100));
    Erase(Ago(20'000 - round * 100 - 50));
  }
  for (uint32_t round = 0; round < 100; ++round) {
    const uint32_t born = 20'000 - round * 100;
    EXPECT_EQ(SiteAt(Ago(born)), round % 2 == 0 ? kSite : kOther) << round;
    EXPECT_EQ(SiteAt(Ago(born - 49)), round % 2 == 0 ? kSite : kOther) << round;
    EXPECT_EQ(VerdictAt(Ago(born - 50)), HeapVerdict::kNothing) << round;
    EXPECT_EQ(VerdictAt(Ago(born - 99)), HeapVerdict::kNothing) << round;
  }
}

TEST_F(BlockFinderTest, DifferentAnswersWithinTheClockErrorAreAmbiguous) {
  Insert(64, kSite, Ago(9000));
  Erase(Ago(5000));
  Insert(64, kOther, Ago(4990));
  EXPECT_EQ(VerdictAt(Ago(4995), 100), HeapVerdict::kAmbiguous);
  EXPECT_EQ(VerdictAt(Ago(5000), 5), HeapVerdict::kAmbiguous);  // freed within the error
  EXPECT_EQ(SiteAt(Ago(5200), 100), kSite);
  EXPECT_EQ(SiteAt(Ago(4800), 100), kOther);
}

TEST_F(BlockFinderTest, ReuseByTheSameSiteIsNotAmbiguous) {
  Insert(64, kSite, Ago(9000));
  Erase(Ago(5000));
  Insert(64, kSite, Ago(4990));
  EXPECT_EQ(SiteAt(Ago(4995), 100), kSite);
}

TEST_F(BlockFinderTest, NeighbourThatChangesIsNoAmbiguity) {
  Insert(8, kSite, Ago(9000));  // ends where the samples are
  Erase(Ago(5000));
  EXPECT_EQ(VerdictAt(Ago(5000), 100), HeapVerdict::kNothing);
}

TEST_F(BlockFinderTest, HistoryThatWasPushedMeanwhileIsGatheredOnAMiss) {
  finder_.GatherHistory();
  Insert(64, kSite, Ago(9000));
  Erase(Ago(5000));
  EXPECT_EQ(SiteAt(Ago(6000)), kSite);
}

TEST_F(BlockFinderTest, APickedBlockIsFoundUnderThePrimarySiteOfItsStack) {
  constexpr StackId kStack{60'000};
  const SiteId picked = ledger::SiteOfPicked(kStack, {6, 10});
  Insert(64, picked, Ago(9000));
  EXPECT_EQ(SiteAt(Ago(6000)), ledger::SiteOfStack(RegionKind::kHeap, kStack));
}

// The block of one site, however each was picked, is no ambiguity.
TEST_F(BlockFinderTest, ReuseByAnotherWayOfBeingPickedIsNotAmbiguous) {
  constexpr StackId kStack{60'001};
  const SiteId primary = ledger::SiteOfStack(RegionKind::kHeap, kStack);
  Insert(64, ledger::SiteOfPicked(kStack, {6, 10}), Ago(9000));
  Erase(Ago(5000));
  Insert(64, primary, Ago(4990));
  EXPECT_EQ(SiteAt(Ago(4995), 100), primary);
}

// The block that took its place was left out by sampling: nobody told the index.
TEST_F(BlockFinderTest, ADeadBlockIsNotBlamedForWhatFollowsItUnseen) {
  Insert(64, kSite, Ago(9000));
  Erase(Ago(5000));
  EXPECT_EQ(SiteAt(Ago(5001)), kSite);
  EXPECT_EQ(VerdictAt(Ago(4000)), HeapVerdict::kNothing);
}

TEST_F(BlockFinderTest, MissWithinLostHistoryIsOverwritten) {
  record_->history_lost_at = Ago(3000);
  record_->history_lost = 1;
  EXPECT_EQ(VerdictAt(Ago(4000)), HeapVerdict::kOverwritten);
  EXPECT_EQ(VerdictAt(Ago(2000)), HeapVerdict::kNothing);
  finder_.ForgetBefore(Ago(2500));
  EXPECT_EQ(VerdictAt(Ago(4000)), HeapVerdict::kNothing);
}

TEST_F(BlockFinderTest, LatestLossOfAllThreadsCounts) {
  ledger::ThreadRecord* second = ledger::RegisterThread(2, false, 0);
  for (ledger::ThreadRecord* record : {record_, second}) {
    record->history_lost_at = record == record_ ? Ago(3000) : Ago(7000);
    record->history_lost = 1;
    finder_.GatherHistory();
  }
  EXPECT_EQ(VerdictAt(Ago(4000)), HeapVerdict::kOverwritten);
  ledger::ReleaseThread(second);
}

// History goes as it came, a gathering at a time, once all of it is older than the settled time.
TEST_F(BlockFinderTest, ForgottenHistoryIsGoneAndYoungerStays) {
  Insert(64, kSite, Ago(9000));
  Erase(Ago(8000));
  finder_.GatherHistory();
  const ledger::EventTime between = ledger::Now() + 1;
  while (ledger::Age(between, ledger::Now()) > (1u << 31)) {
  }
  Insert(64, kOther, Ago(7000));
  Erase(Ago(6000));
  EXPECT_EQ(SiteAt(Ago(8500)), kSite);
  EXPECT_EQ(SiteAt(Ago(6500)), kOther);
  finder_.ForgetBefore(between);
  EXPECT_EQ(SiteAt(Ago(8500)), SiteId::kUnknown);
  EXPECT_EQ(SiteAt(Ago(6500)), kOther);
}

TEST_F(BlockFinderTest, LargeFreesAreTakenOnce) {
  Insert(ledger::kLargeBlock, kSite, Ago(9000));
  Erase(Ago(8000));
  Insert(64, kSite, Ago(7000));
  Erase(Ago(6000));
  finder_.GatherHistory();
  int visits = 0;
  for (int i = 0; i < 2; ++i) {
    finder_.TakeLargeFrees([&](uint64_t start, uint64_t size) {
      ++visits;
      EXPECT_EQ(start, address_);
      EXPECT_EQ(size, ledger::kLargeBlock);
    });
  }
  EXPECT_EQ(visits, 1);
}

}  // namespace
}  // namespace memagent::attribute
