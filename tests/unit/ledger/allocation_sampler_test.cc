#include "agent/ledger/allocation_sampler.h"

#include <gtest/gtest.h>

#include <cmath>

#include "agent/ledger/site_table.h"

namespace memagent::ledger {
namespace {

// Of `blocks` blocks of `size` bytes, how many are picked under `mean`.
int CountPicks(AllocationSampler& sampler, uint64_t size, uint32_t mean, int blocks) {
  int picked = 0;
  PickClass how;
  for (int i = 0; i < blocks; ++i) picked += sampler.Picks(size, mean, how);
  return picked;
}

// Within five standard deviations of a binomial count: once in two million by chance, and the seed
// is fixed.
void ExpectProbability(int picked, int blocks, double p) {
  EXPECT_NEAR(picked, blocks * p, 5 * std::sqrt(blocks * p * (1 - p))) << p;
}

TEST(AllocationSampler, PicksWithTheProbabilityOfTheRoundedSize) {
  constexpr int kBlocks = 1'000'000;
  AllocationSampler sampler;
  sampler.Seed(1);
  const struct {
    uint64_t size;
    double cost;
  } kCases[] = {{0, 32}, {1, 32}, {24, 32}, {32, 32}, {33, 64}, {600, 1024}, {1024, 1024}};
  for (const auto& test : kCases) {
    const double p = 1 - std::exp(-test.cost / 2048);
    ExpectProbability(CountPicks(sampler, test.size, 2048, kBlocks), kBlocks, p);
  }
}

TEST(AllocationSampler, TracksEveryBlockOfTheMeanAndMore) {
  AllocationSampler sampler;
  sampler.Seed(2);
  PickClass how;
  for (uint64_t size : {512, 513, 100'000}) {
    EXPECT_TRUE(sampler.Picks(size, 512, how));
    EXPECT_TRUE(how.certain());
  }
}

TEST(AllocationSampler, SaysHowABlockWasPicked) {
  AllocationSampler sampler;
  sampler.Seed(3);
  PickClass how;
  while (!sampler.Picks(40, 512, how)) {
  }
  EXPECT_EQ(how, (PickClass{6, 9}));
  EXPECT_FALSE(how.certain());
}

TEST(AllocationSampler, ABlockAfterAPickIsPickedAsOftenAsAnyOther) {
  constexpr int kPicks = 100'000;
  AllocationSampler sampler;
  sampler.Seed(4);
  PickClass how;
  int next_too = 0;
  for (int picks = 0; picks < kPicks;) {
    if (!sampler.Picks(256, 512, how)) continue;
    ++picks;
    next_too += sampler.Picks(256, 512, how);
  }
  ExpectProbability(next_too, kPicks, 1 - std::exp(-0.5));
}

TEST(AllocationSampler, ANewMeanHoldsFromTheNextBlockOn) {
  constexpr int kBlocks = 300'000;
  AllocationSampler sampler;
  sampler.Seed(5);
  PickClass how;
  int under[2] = {0, 0};
  for (int i = 0; i < kBlocks; ++i) {  // changes far more often than picks
    under[0] += sampler.Picks(64, 4096, how);
    under[1] += sampler.Picks(64, 256, how);
  }
  ExpectProbability(under[0], kBlocks, 1 - std::exp(-64.0 / 4096));
  ExpectProbability(under[1], kBlocks, 1 - std::exp(-64.0 / 256));
}

TEST(AllocationSampler, SeedsGiveDifferentChoices) {
  AllocationSampler one;
  AllocationSampler other;
  one.Seed(1);
  other.Seed(2);
  int same = 0;
  PickClass how;
  for (int i = 0; i < 10'000; ++i) same += one.Picks(512, 1024, how) == other.Picks(512, 1024, how);
  const double p = 1 - std::exp(-0.5);
  ExpectProbability(same, 10'000, p * p + (1 - p) * (1 - p));
}

TEST(PickedSites, AreFurtherSitesOfTheirStack) {
  constexpr StackId kStack{50'000};
  const SiteId picked = SiteOfPicked(kStack, {5, 9});
  const SiteId primary = SiteOfStack(RegionKind::kHeap, kStack);
  ASSERT_NE(picked, SiteId::kUnknown);
  EXPECT_NE(picked, primary);
  EXPECT_EQ(SiteOfPicked(kStack, {5, 9}), picked);
  EXPECT_NE(SiteOfPicked(kStack, {6, 9}), picked);
  EXPECT_NE(SiteOfPicked(kStack, {5, 10}), picked);
  EXPECT_EQ(CountersOf(picked)->picked, (PickClass{5, 9}));
  EXPECT_EQ(PrimarySite(picked), primary);
  EXPECT_EQ(PrimarySite(primary), primary);
  EXPECT_EQ(PrimarySite(SiteId::kUnknown), SiteId::kUnknown);
}

TEST(PickedSites, OfACertainBlockIsThePrimaryOne) {
  constexpr StackId kStack{50'001};
  EXPECT_EQ(SiteOfPicked(kStack, {}), SiteOfStack(RegionKind::kHeap, kStack));
}

}  // namespace
}  // namespace memagent::ledger
