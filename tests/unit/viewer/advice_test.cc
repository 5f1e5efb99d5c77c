#include "viewer/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/viewer/advised_site.h"
#include "viewer/advice_text.h"
#include "viewer/line_sharing.h"

namespace memagent::viewer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// --- nothing to do ---

TEST(Advice, FewSamplesGetNone) {
  PlacedSite site;
  site.Use(1, 1, 0, 29).Touch(0, 0, 100);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kTooFewSamples);
  EXPECT_FALSE(given.First().Helps());
  EXPECT_EQ(AdviceText(given.First(), Terminal()),
            "No advice: only 29 samples could be located, advice takes 30.");
}

TEST(Advice, OneNodeCanNotBePlacedBetter) {
  PlacedSite site(1);
  site.Use(0, 0, 0, 500).Use(1, 0, 0, 500).Touch(0, 0, 100);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kOneNode);
  EXPECT_THAT(AdviceText(given.First(), Terminal()), HasSubstr("no placement can help here"));
}

TEST(Advice, NearMemoryIsLeftAlone) {
  PlacedSite site;
  site.Use(0, 0, 0, 990).Use(1, 1, 0, 10).Touch(0, 0, 100);
  EXPECT_EQ(AdviceOn(site).First().kind, AdviceKind::kNothing);
}

TEST(Advice, UnknownPatternWithoutAMainUserGetsNone) {
  PlacedSite site;
  site.Use(0, 0, 0, 500).Use(1, 1, 0, 500).Touch(0, 0, 100);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kNothing);
  EXPECT_THAT(given.First().reason, HasSubstr("does not tell who shared which page"));
}

// --- bind ---

TEST(Advice, OneOwnerElsewhereIsBound) {
  PlacedSite site;
  site.Use(0, 0, 0, 30).Use(1, 1, 0, 970).Touch(0, 0, 4000);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kBind);
  EXPECT_THAT(given.First().nodes, ElementsAre(1));
  EXPECT_EQ(given.First().rule, "bind:1");
  ExpectPrediction(given.First(), 0.03);
  EXPECT_NEAR(given.First().gain->share, 0.94, 0.001);
  EXPECT_LT(given.First().gain->interval.low, 0.94);
  EXPECT_GT(given.First().gain->interval.high, 0.94);
}

TEST(Advice, OwnerIsGivenTheRestThatLiesElsewhere) {
  PlacedSite site;
  site.Use(1, 1, 1, 900).Use(1, 1, 0, 100).Touch(1, 1, 4000).Touch(0, 0, 200);
  EXPECT_EQ(AdviceOn(site).First().rule, "bind:1");  // 10 % remote now, none then
}

TEST(Advice, MemoryOfItsMainUserIsNotBound) {
  PlacedSite site;
  site.Use(1, 1, 1, 900).Use(0, 0, 1, 100).Touch(1, 1, 4000);
  EXPECT_EQ(AdviceOn(site).First().kind, AdviceKind::kNothing);  // as remote wherever it lies
}

TEST(Advice, DistancesDecideBetweenNodes) {
  PlacedSite site(3);
  const std::vector<uint32_t> line = {10, 20, 40, 20, 10, 20, 40, 20, 10};  // 0 - 1 - 2
  for (int i = 0; i < 9; ++i) site.machine().set_distances(i, line[static_cast<size_t>(i)]);
  // A little less from node 1, which lies between the two others.
  site.Use(0, 0, 2, 330).Use(1, 1, 2, 320).Use(2, 2, 2, 325).Touch(2, 2, 4000);
  const View view = site.Build();
  EXPECT_EQ(BestNode(view, view.sites.at(0), UseOf(view.sites.at(0))), 1);
}

TEST(Advice, NodeWithoutCpusIsNeverChosen) {
  PlacedSite site(3);
  site.machine().mutable_nodes(2)->set_cpu_list("");
  site.Use(0, 0, 2, 960).Use(1, 1, 2, 40).Touch(0, 0, 4000).Pages(2, 4000);
  site.Policy("bind", {2}, 4000);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().rule, "bind:0");
  for (const Advice& advice : given.diagnosis.advice) {
    EXPECT_NE(advice.kind, AdviceKind::kPinThreads);
  }
}

TEST(Advice, NodeWithoutRoomIsNotBoundTo) {
  PlacedSite site;
  site.Blocks(1, 0, uint64_t{8} << 30);  // as large as the node
  site.Use(0, 0, 0, 30).Use(1, 1, 0, 970).Touch(0, 0, 4000);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kNothing);
  EXPECT_THAT(given.First().reason, HasSubstr("room"));
}

TEST(Advice, NodeWithoutMemoryIsNeverChosen) {
  PlacedSite site(3);
  site.machine().mutable_nodes(2)->set_memory_total_bytes(0);
  site.Use(0, 0, 1, 450).Use(2, 2, 1, 550).Touch(1, 1, 4000);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().rule, "bind:0");
}

TEST(Advice, PartsOfNodesWithoutMemoryAreNotAdvised) {
  PlacedSite site(3);
  site.machine().mutable_nodes(2)->set_memory_total_bytes(0);
  site.Use(0, 0, 1, 992).Use(1, 2, 1, 992).Touch(1, 1, 4000).Parts({0, 2}, 1, 31);
  EXPECT_EQ(AdviceOn(site).Find(AdviceKind::kBlock), nullptr);
}

TEST(Advice, InterleavingLeavesOutNodesWithoutMemory) {
  PlacedSite site(3);
  site.machine().mutable_nodes(2)->set_memory_total_bytes(0);
  site.Use(0, 0, 0, 700).Use(1, 1, 0, 700).Use(2, 2, 0, 700).Touch(0, 0, 4000);
  site.Pairs(4096, 400, 140);
  const Given given = AdviceOn(site);
  EXPECT_THAT(given.First().nodes, ElementsAre(0, 1));
  EXPECT_EQ(given.First().rule, "interleave");  // these are all that `run` takes
}

TEST(Advice, NearerNodeHelpsThoughAsMuchStaysRemote) {
  PlacedSite site(4);
  site.Distances({10, 12, 32, 32, 12, 10, 32, 32, 32, 32, 10, 12, 32, 32, 12, 10});
  site.Use(0, 0, 0, 640).Use(1, 2, 0, 690).Use(2, 3, 0, 670).Touch(0, 0, 4000);
  const Given given = AdviceOn(site);
  ASSERT_EQ(given.First().kind, AdviceKind::kBind);  // remote 68 % -> 66 %, half of that near by
  EXPECT_EQ(given.First().rule, "bind:2");
  EXPECT_GT(given.First().gain->share, 0.3);
}

TEST(Advice, SmallHeapBlocksHaveNoRule) {
  PlacedSite site;
  site.Blocks(1000, 0, 64).Use(0, 0, 0, 30).Use(1, 1, 0, 970).Touch(0, 0, 4000);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kBind);
  EXPECT_EQ(given.First().rule, "");
  EXPECT_EQ(TryCommand(given.view, given.view.sites.at(0), given.First(), "p", Terminal()), "");
}

TEST(Advice, ProducersBlocksAreBoundToTheConsumer) {
  PlacedSite site;
  site.Blocks(100, 98, 1 << 22).Use(0, 0, 0, 150).Use(1, 1, 0, 850).Touch(0, 0, 5000);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().rule, "bind:1");
  ExpectPrediction(given.First(), 0.15);
}

TEST(Advice, ProducerAndConsumerAlikeCanNotBePlaced) {
  PlacedSite site;
  site.Blocks(100, 98, 1 << 22).Use(0, 0, 0, 480).Use(1, 1, 0, 520).Touch(0, 0, 5000);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kNothing);
  EXPECT_THAT(given.First().reason, HasSubstr("let each reader copy it once"));
}

// --- block, first touch ---

TEST(Advice, BlockedUseGetsItsParts) {
  PlacedSite site;
  site.Use(0, 0, 0, 992).Use(1, 1, 0, 992).Touch(0, 0, 4000);
  site.Parts({0, 1, 0, 1}, 0, 31).Pairs(4096, 400, 400);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kBlock);
  EXPECT_THAT(given.First().nodes, ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(given.First().rule, "block:0+1+0+1");
  ExpectPrediction(given.First(), 0);
  const Advice* touch = given.Find(AdviceKind::kTouchInParallel);
  ASSERT_NE(touch, nullptr);
  EXPECT_EQ(touch->where.function, "fill");
  EXPECT_EQ(touch->rule, "");
}

TEST(Advice, HalvesOfAllNodesNeedNoList) {
  PlacedSite site;
  site.Use(0, 0, 0, 992).Use(1, 1, 0, 992).Touch(0, 0, 4000).Parts({0, 1}, 0, 31);
  EXPECT_EQ(AdviceOn(site).First().rule, "block");
}

TEST(Advice, PartsThatOthersUseSometimesStayRemoteSoFar) {
  PlacedSite site;
  site.Use(0, 0, 0, 1000).Use(1, 1, 0, 1000).Touch(0, 0, 4000);
  for (uint32_t i = 0; i < 64; ++i) {
    site.Strip(i, i < 32 ? 0 : 1, 0, 27).Strip(i, i < 32 ? 1 : 0, 0, 3);
  }
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kBlock);
  ExpectPrediction(given.First(), 0.1);
}

TEST(Advice, PartsAtHomeAreLeftAlone) {
  PlacedSite site;
  site.Use(0, 0, 0, 970).Use(0, 0, 1, 30).Use(1, 1, 1, 970).Use(1, 1, 0, 30);
  site.Touch(0, 0, 2000).Touch(1, 1, 2000).Parts({0, 1}, 0, 31);
  EXPECT_EQ(AdviceOn(site).First().kind, AdviceKind::kNothing);
}

TEST(Advice, CyclicUseIsTouchedInParallel) {
  PlacedSite site;
  site.Use(0, 0, 0, 1000).Use(1, 1, 0, 1000).Touch(0, 0, 4000);
  for (uint32_t i = 0; i < 64; ++i) site.Strip(i, 0, 0, 15).Strip(i, 1, 0, 15);
  site.Pairs(4096, 1000, 980);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kTouchInParallel);
  ExpectPrediction(given.First(), 0.0101);  // (1 - sqrt(1 - 2 * 0.02)) / 2
  EXPECT_GT(given.First().after->interval.high, 0.02);
}

TEST(Advice, WithoutFaultsNobodyIsToldToTouchElsewhere) {
  PlacedSite site;
  site.Use(0, 0, 0, 1000).Use(1, 1, 0, 1000);
  for (uint32_t i = 0; i < 64; ++i) site.Strip(i, 0, 0, 15).Strip(i, 1, 0, 15);
  site.Pairs(4096, 1000, 980);
  EXPECT_EQ(AdviceOn(site).First().kind, AdviceKind::kNothing);
}

TEST(Advice, BlocksOfOneUserEachAreTouchedByIt) {
  PlacedSite site;
  site.Blocks(40, 0, 1 << 20).Use(0, 0, 0, 1000).Use(1, 1, 0, 1000).Touch(0, 0, 4000);
  site.Pairs(0, 500, 500);
  EXPECT_EQ(AdviceOn(site).First().kind, AdviceKind::kTouchByUser);
}

// --- shared ---

TEST(Advice, SharedMemoryOfOneNodeIsInterleaved) {
  PlacedSite site;
  site.Use(0, 0, 0, 1000).Use(1, 1, 0, 1000).Touch(0, 0, 4000).Pairs(4096, 400, 205);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kInterleave);
  EXPECT_EQ(given.First().rule, "interleave");
  ExpectPrediction(given.First(), 0.5);
  EXPECT_THAT(EffectText(given.view, given.diagnosis, given.First(), Terminal()),
              HasSubstr("how much is not known"));
}

TEST(Advice, SharedMemoryThatIsSpreadIsLeftAlone) {
  PlacedSite site;
  site.Use(0, 0, 0, 500).Use(0, 0, 1, 500).Use(1, 1, 0, 500).Use(1, 1, 1, 500);
  site.Touch(0, 0, 4000).Pairs(4096, 400, 205);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kNothing);
  EXPECT_THAT(given.First().reason, HasSubstr("spread over several nodes already"));
}

TEST(Advice, StacksOfSeveralThreadsAreNotBoundToOneNode) {
  PlacedSite site(4);
  site.Kind(v1::STACK).Blocks(0, 0, 0);
  site.Use(0, 0, 1, 600).Use(1, 1, 2, 300).Use(2, 2, 3, 100);
  EXPECT_EQ(AdviceOn(site).First().kind, AdviceKind::kNothing);
}

TEST(Advice, InterleavingThatSurelyAddsRemoteAccessesHasNoRule) {
  PlacedSite site;
  site.Use(0, 0, 0, 1300).Use(1, 1, 0, 700).Touch(0, 0, 4000).Pairs(4096, 400, 205);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kInterleave);  // remote 35 % -> 50 %
  EXPECT_EQ(given.First().rule, "");
  EXPECT_FALSE(given.First().gain.has_value());
  EXPECT_THAT(EffectText(given.view, given.diagnosis, given.First(), Terminal()),
              HasSubstr("how much is not known"));
}

TEST(Advice, InterleavingLeavesOutNodesThatDoNotUseIt) {
  PlacedSite site(4);
  site.Use(0, 1, 0, 1000).Use(1, 2, 0, 1000).Touch(2, 0, 4000).Pairs(4096, 400, 205);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().rule, "interleave:1+2");
  ExpectPrediction(given.First(), 0.5);  // all of it now
}

TEST(Advice, SharedMemoryThatOneNodeUsesMostIsBound) {
  PlacedSite site;
  site.Use(0, 0, 0, 500).Use(1, 1, 0, 1500).Touch(0, 0, 4000).Pairs(4096, 400, 250);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().rule, "bind:1");
  ExpectPrediction(given.First(), 0.25);
}

TEST(Advice, ReadOnlyMemoryIsReplicated) {
  PlacedSite site;
  site.Use(0, 0, 0, 1000, 30).Use(1, 1, 0, 1000).Touch(0, 0, 4000).Pairs(4096, 400, 205);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kReplicate);
  EXPECT_LT(given.First().after->interval.high, 0.03);
  EXPECT_NE(given.Find(AdviceKind::kInterleave), nullptr);
}

TEST(Advice, CopiesAreAdvisedOnACondition) {
  PlacedSite site;
  site.Use(0, 0, 0, 1000, 30).Use(1, 1, 0, 1000).Touch(0, 0, 4000).Pairs(4096, 400, 205);
  EXPECT_THAT(AdviceText(AdviceOn(site).First(), Terminal()),
              HasSubstr("if it is not written once filled"));
}

// A hash table: 2.5 % stores, of all nodes.
TEST(Advice, MemoryThatAllWriteSometimesIsNotReplicated) {
  PlacedSite site;
  site.Use(0, 0, 0, 1000, 25).Use(1, 1, 0, 1000, 25).Touch(0, 0, 4000).Pairs(4096, 400, 205);
  EXPECT_EQ(AdviceOn(site).Find(AdviceKind::kReplicate), nullptr);
}

TEST(Advice, WrittenMemoryIsNotReplicated) {
  PlacedSite site;
  site.Use(0, 0, 0, 1000, 300).Use(1, 1, 0, 1000, 300).Touch(0, 0, 4000).Pairs(4096, 400, 205);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.Find(AdviceKind::kReplicate), nullptr);
  EXPECT_EQ(given.First().kind, AdviceKind::kInterleave);
}

// --- cache lines ---

// Two threads write every other word of a line; `same` word: both write one.
Given AdviceOnLine(int nodes, bool same) {
  PlacedSite site(nodes);
  site.Blocks(1, 0, 64).Use(0, 0, 0, 500, 400).Use(1, nodes - 1, 0, 500, 400);
  site.Pairs(64, 900, nodes > 1 ? 450 : 900, 450, 400);
  Given given;
  given.view = site.Build();
  for (uint64_t i = 0; i < 100; ++i) {
    profile::RawSample sample;
    sample.address = 0x10000 + (same ? 0 : 8 * (i % 2));
    sample.thread = static_cast<uint32_t>(1 + i % 2);
    sample.site = given.view.sites.at(0).profile_id;
    sample.evidence = 1;
    given.view.profile.raw_samples.push_back(sample);
  }
  given.view.raw_by_site = RawBySite(given.view.profile);
  given.diagnosis = Diagnose(given.view, given.view.sites.at(0));
  return given;
}

TEST(Advice, LinesWithWordsOfSeveralThreadsArePadded) {
  for (const int nodes : {1, 2}) {
    const Given given = AdviceOnLine(nodes, false);
    EXPECT_EQ(given.First().kind, AdviceKind::kPadLines) << nodes;
    EXPECT_GT(given.First().gain->share, 0.4);
  }
}

TEST(Advice, WordsThatThreadsShareAreNotPadded) {
  EXPECT_EQ(AdviceOnLine(1, true).Find(AdviceKind::kPadLines), nullptr);
}

TEST(Advice, LinesThatNobodyWritesAreNotPadded) {
  PlacedSite site;
  site.Use(0, 0, 0, 500).Use(1, 1, 0, 500).Pairs(64, 900, 450, 450);
  EXPECT_EQ(AdviceOn(site).Find(AdviceKind::kPadLines), nullptr);
}

// --- gain and command ---

TEST(Advice, GainOfLatencyIsWhatFarAccessesTakeLonger) {
  const View view = ViewOf(StencilBytes(2, true));
  const SiteView& grid = view.sites.at(0);
  Prediction after;
  after.interval = {0, 0};
  const Gain gain = GainOf(view, grid, AsItIs(view, grid), after);
  EXPECT_TRUE(gain.of_latency);
  // 3,400 far loads of 318.8 cycles, near ones take 112; 1,472,640 cycles in all sites.
  EXPECT_NEAR(gain.share, 3400 * (318.8 - 112) / 1472640.0, 0.002);
}

TEST(Advice, CommandToTryItIsQuoted) {
  PlacedSite site;
  site.Use(0, 0, 0, 30).Use(1, 1, 0, 970).Touch(0, 0, 4000);
  site.builder().header().mutable_process()->add_arguments("a b");
  const Given given = AdviceOn(site);
  EXPECT_EQ(TryCommand(given.view, given.view.sites.at(0), given.First(), "x.memagent", Terminal()),
            "memagent run --place 'S1@x.memagent=bind:1' -- ./stencil 4096 -t 4 'a b'");
}

}  // namespace
}  // namespace memagent::viewer
