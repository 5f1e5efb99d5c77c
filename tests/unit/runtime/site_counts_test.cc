#include "agent/runtime/site_counts.h"

#include <gtest/gtest.h>

#include "agent/ledger/site_table.h"
#include "agent/ledger/thread_record.h"

namespace memagent::runtime {
namespace {

class SiteCountsTest : public testing::Test {
 protected:
  void SetUp() override {
    first_ = ledger::RegisterThread(1, true, 0);
    second_ = ledger::RegisterThread(2, false, 0);
    site_ = ledger::NewSite(RegionKind::kHeap);
  }
  void TearDown() override {
    for (ledger::ThreadRecord* record : {first_, second_}) {
      record->counters.FlushAll();
      ledger::ReleaseThread(record);
    }
  }
  attribute::RegionCounts Counts() const { return SiteCounts(regions_).Of(site_); }

  ledger::ThreadRecord* first_ = nullptr;
  ledger::ThreadRecord* second_ = nullptr;
  SiteId site_ = SiteId::kUnknown;
  attribute::RegionIndex regions_;
};

TEST_F(SiteCountsTest, FlushedAndUnflushedCountsAddUp) {
  first_->counters.CountAllocation(site_, 100);
  first_->counters.FlushAll();
  first_->counters.CountAllocation(site_, 10);
  second_->counters.CountAllocation(site_, 1);
  second_->counters.CountFree(site_, 100);
  const attribute::RegionCounts counts = Counts();
  EXPECT_EQ(counts.allocations, 3u);
  EXPECT_EQ(counts.frees, 1u);
  EXPECT_EQ(counts.bytes_allocated, 111u);
  EXPECT_EQ(counts.bytes_freed, 100u);
  EXPECT_EQ(counts.bytes_peak, 110u);
}

TEST_F(SiteCountsTest, FreesBeyondTheThreadsOwnAllocationsAreSubtractedInSum) {
  first_->counters.CountAllocation(site_, 100);
  second_->counters.CountFree(site_, 100);
  second_->counters.UncountFree(site_, 100);
  second_->counters.UncountFree(site_, 100);  // a delta below zero
  second_->counters.CountFree(site_, 100);
  const attribute::RegionCounts counts = Counts();
  EXPECT_EQ(counts.frees, 0u);
  EXPECT_EQ(counts.bytes_freed, 0u);
  EXPECT_EQ(counts.allocations, 1u);
}

// Its stack may not be in the profile yet: a site that counted would be written without one.
TEST_F(SiteCountsTest, SiteMadeAfterwardsCountsNothing) {
  const SiteCounts counts(regions_);
  const SiteId later = ledger::NewSite(RegionKind::kHeap);
  first_->counters.CountAllocation(later, 100);
  first_->counters.FlushAll();
  EXPECT_FALSE(counts.Of(later).any());
  EXPECT_TRUE(SiteCounts(regions_).Of(later).any());
}

TEST_F(SiteCountsTest, PeakOutlivesTheBlocks) {
  for (int i = 0; i < 10; ++i) first_->counters.CountAllocation(site_, 100);
  for (int i = 0; i < 10; ++i) first_->counters.CountFree(site_, 100);
  EXPECT_EQ(Counts().bytes_peak, 1000u);
  first_->counters.FlushAll();
  EXPECT_EQ(Counts().bytes_peak, 1000u);
}

TEST_F(SiteCountsTest, RegionsSayWhatTheHooksCannotKnow) {
  ledger::RegionEvent event = {};
  event.kind = ledger::RegionEvent::Kind::kMap;
  event.region = RegionKind::kMmap;
  event.site = site_;
  event.tsc = 1;
  event.start = 0x700000000000;
  event.size = 8192;
  regions_.Apply(event);
  EXPECT_EQ(Counts().allocations, 1u);
  EXPECT_EQ(Counts().bytes_allocated, 8192u);
  EXPECT_EQ(Counts().bytes_peak, 8192u);
}

TEST_F(SiteCountsTest, SumsCoverEverySite) {
  const SiteCounts before(regions_);
  const SiteId other = ledger::NewSite(RegionKind::kHeap);
  for (int i = 0; i < 5; ++i) first_->counters.CountAllocation(site_, 8);
  for (int i = 0; i < 3; ++i) second_->counters.CountAllocation(other, 8);
  second_->counters.CountFree(site_, 8);
  const SiteCounts after(regions_);
  EXPECT_EQ(after.allocations() - before.allocations(), 8u);
  EXPECT_EQ(after.live_blocks() - before.live_blocks(), 7u);
}

TEST_F(SiteCountsTest, PickedBlocksAreEstimatedInThePrimarySiteOfTheirStack) {
  constexpr StackId kStack{70'000};
  const SiteId picked = ledger::SiteOfPicked(kStack, {6, 10});  // 64 bytes of 1,024: 1 in 16.5
  const SiteId primary = ledger::PrimarySite(picked);
  first_->counters.CountAllocation(primary, 2000);
  for (int i = 0; i < 100; ++i) first_->counters.CountAllocation(picked, 64);
  for (int i = 0; i < 40; ++i) second_->counters.CountFree(picked, 64);
  const SiteCount counts = SiteCounts(regions_).Of(primary);
  EXPECT_NEAR(static_cast<double>(counts.allocations), 1 + 1650.5, 0.6);
  EXPECT_NEAR(static_cast<double>(counts.frees), 660.2, 0.6);
  EXPECT_NEAR(static_cast<double>(counts.bytes_allocated), 2000 + 64 * 1650.5, 1);
  EXPECT_EQ(counts.sampled.picked_allocations, 100u);
  EXPECT_NEAR(counts.sampled.allocations_variance / (100 * 16.505 * 15.505), 1, 1e-3);
  EXPECT_NEAR(counts.sampled.blocks_live_variance / (60 * 16.505 * 15.505), 1, 1e-3);
}

TEST_F(SiteCountsTest, UnknownSiteHasNoCounts) {
  EXPECT_EQ(SiteCounts(regions_).Of(SiteId::kUnknown).allocations, 0u);
}

}  // namespace
}  // namespace memagent::runtime
