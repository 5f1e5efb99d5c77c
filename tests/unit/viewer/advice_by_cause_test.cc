// Causes with a cure of their own: threads that moved, shared huge pages, full nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/viewer/advised_site.h"
#include "viewer/advice_rules.h"
#include "viewer/advice_text.h"

namespace memagent::viewer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Advice, ThreadThatMovedIsPinnedOrFollowed) {
  PlacedSite site;
  site.Use(1, 0, 0, 30).Use(1, 1, 0, 970).Touch(1, 0, 4000).Pages(0, 4000);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kPinThreads);
  ExpectPrediction(given.First(), 0);
  ASSERT_NE(given.Find(AdviceKind::kBind), nullptr);
  EXPECT_EQ(given.Find(AdviceKind::kBind)->rule, "bind:1");
}

TEST(Advice, ThreadThatFewRemoteSamplesAreOfIsNotPinned) {
  PlacedSite site;
  site.Use(0, 0, 0, 1000).Use(1, 1, 0, 1000).Touch(0, 0, 3000).Touch(1, 0, 1000);
  EXPECT_EQ(AdviceOn(site).Find(AdviceKind::kPinThreads), nullptr);
}

TEST(Advice, ThreadIsNotPinnedWhereThatIsNotSurelyBetter) {
  PlacedSite site;  // of 40 samples 20 are remote and 9 would be: 35 to 65 %, and 12 to 38 %
  site.Use(0, 0, 0, 20).Use(1, 1, 0, 20).Touch(1, 0, 2200).Touch(0, 0, 1800);
  const Given given = AdviceOn(site);
  EXPECT_EQ(SamplesOf(given.diagnosis.causes, CauseKind::kThreadMoved), 11u);
  EXPECT_EQ(given.Find(AdviceKind::kPinThreads), nullptr);
}

// Each page is used by one node, each 2 MiB by both.
PlacedSite SharedHugePages() {
  PlacedSite site;
  site.Use(0, 0, 0, 1000).Use(1, 1, 0, 1000).Pages(0, 500).AllHuge(500);
  site.Pairs(4096, 1000, 1000).Pairs(2 << 20, 1000, 500);
  return site;
}

TEST(Advice, SharedHugePagesAreMadeSmall) {
  PlacedSite site = SharedHugePages();
  site.Touch(0, 0, 24).Touch(1, 1, 8).Pages(1, 100);
  const Given given = AdviceOn(site);
  const Advice* small = given.Find(AdviceKind::kSmallPages);
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(small->rule, "nohuge");
  ExpectPrediction(*small, 0);
  EXPECT_LT(small->after->interval.high, 0.01);
  EXPECT_EQ(small->reason, "its huge pages hold what several nodes use");
}

// Whoever fills all of it may touch every small page, too: then nothing is gained.
TEST(Advice, SmallPagesOfOneFillerMayGainNothing) {
  PlacedSite site = SharedHugePages();
  site.Touch(0, 0, 32);
  for (uint32_t i = 0; i < 64; ++i) site.Strip(i, 0, 0, 15).Strip(i, 1, 0, 15);
  const Given given = AdviceOn(site);
  ASSERT_THAT(given.Kinds(), ElementsAre(AdviceKind::kSmallPages));  // as in shared_huge_page
  EXPECT_EQ(given.First().rule, "nohuge");
  ExpectPrediction(given.First(), 0);
  EXPECT_GE(given.First().after->interval.high, given.diagnosis.now.remote);
  EXPECT_LE(given.First().gain->interval.low, 0);
  EXPECT_THAT(given.First().reason, HasSubstr("if each thread touches its own part first"));
}

TEST(Advice, PartsThatAreSureComeBeforeSmallPages) {
  PlacedSite site = SharedHugePages();
  site.Touch(0, 0, 32).Parts({0, 1, 0, 1, 0, 1, 0, 1}, 0, 31);
  const Given given = AdviceOn(site);
  EXPECT_THAT(given.Kinds(), ElementsAre(AdviceKind::kBlock, AdviceKind::kSmallPages));
  EXPECT_THAT(RulesOf(given.view, "p", 64).rules, ElementsAre("S1@p=block:0+1+0+1+0+1+0+1"));
}

TEST(Advice, FirstTouchOfHugePagesIsPredictedByHugePages) {
  PlacedSite site;  // half of the pairs in 2 MiB are of two nodes: no touch can part them
  site.Use(0, 0, 0, 1000).Use(1, 1, 0, 1000).Touch(0, 0, 32).AllHuge(500);
  for (uint32_t i = 0; i < 64; ++i) site.Strip(i, 0, 0, 15).Strip(i, 1, 0, 15);
  site.Pairs(4096, 1000, 980).Pairs(2 << 20, 1000, 520);
  EXPECT_EQ(AdviceOn(site).Find(AdviceKind::kTouchInParallel), nullptr);
}

TEST(Advice, SmallBlocksInHugePagesAreNotToldApartByTheirTouch) {
  for (const bool huge : {false, true}) {
    PlacedSite site;
    site.Blocks(400, 0, 1 << 16).Use(0, 0, 0, 1000).Use(1, 1, 0, 1000).Touch(0, 0, 32);
    site.Pairs(0, 500, 500).Pairs(4096, 500, 500).Pairs(2 << 20, 500, 250);
    if (huge) site.AllHuge(500);
    EXPECT_EQ(AdviceOn(site).Find(AdviceKind::kTouchByUser) != nullptr, !huge);
  }
}

TEST(Advice, MemoryOfAFullNodeIsNotBoundToIt) {
  PlacedSite site;
  site.Use(0, 0, 1, 1000).Touch(0, 0, 2000).Pages(1, 2000);
  site.Counters(0, 0, 2200).Counters(1, 2200, 0);
  const Given given = AdviceOn(site);
  EXPECT_THAT(given.Kinds(), ElementsAre(AdviceKind::kNothing));
  EXPECT_THAT(given.First().reason, HasSubstr("had no free memory: make room there"));
}

// On a crowded machine two samples in a row are often of one thread; all samples of a part are not.
TEST(Advice, HugePagesOfTwoNodesAreNotMendedByTouchAlsoWhereThreadsRunByTurns) {
  PlacedSite site;
  site.Use(0, 0, 0, 1600).Use(1, 1, 0, 1600).Touch(0, 0, 8192).Pages(0, 500).AllHuge(500);
  site.Pairs(4096, 1000, 1000).Pairs(2 << 20, 3000, 1800);
  for (uint32_t part = 0; part < 64; ++part) site.Strip(part, 0, 0, 25).Strip(part, 1, 0, 25);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kSmallPages);
  EXPECT_EQ(given.Find(AdviceKind::kTouchInParallel), nullptr);
}

// The node that uses more of each huge page would have it: surely a little better, and not worth it.
TEST(Advice, TouchThatChangesLittleIsNoAdvice) {
  PlacedSite site;
  site.Use(0, 0, 0, 1610).Use(1, 1, 0, 1890).Touch(0, 0, 8192).Pages(0, 500).AllHuge(500);
  site.Pairs(4096, 1000, 1000).Pairs(2 << 20, 1000, 515);
  for (uint32_t part = 0; part < 64; ++part) site.Strip(part, 0, 0, 25).Strip(part, 1, 0, 30);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kSmallPages);
  EXPECT_EQ(given.Find(AdviceKind::kTouchInParallel), nullptr);
}

}  // namespace
}  // namespace memagent::viewer
