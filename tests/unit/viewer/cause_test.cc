#include "viewer/cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/viewer/placed_site.h"

namespace memagent::viewer {
namespace {

using testing::HasSubstr;

struct Found {
  View view;
  std::vector<Cause> causes;

  double ShareOf(CauseKind kind) const {
    return Share(SamplesOf(causes, kind), view.sites.at(0).remote_samples);
  }
  std::string Evidence(CauseKind kind) const {
    for (const Cause& cause : causes) {
      if (cause.kind == kind) return CauseEvidence(view, view.sites.at(0), cause, Terminal());
    }
    return "";
  }
};

Found FindIn(PlacedSite& site) {
  Found found;
  found.view = site.Build();
  found.causes = CausesOf(found.view, found.view.sites.at(0));
  uint64_t sum = 0;
  for (const Cause& cause : found.causes) sum += cause.samples;
  EXPECT_EQ(sum, found.view.sites.at(0).remote_samples);
  return found;
}

TEST(Cause, OtherThreadTouchedItFirst) {
  PlacedSite site;
  site.Use(0, 0, 0, 500).Use(1, 1, 0, 500).Touch(0, 0, 4000).Pages(0, 4000);
  const Found found = FindIn(site);
  EXPECT_EQ(found.ShareOf(CauseKind::kTouchedElsewhere), 1);
  EXPECT_THAT(found.Evidence(CauseKind::kTouchedElsewhere),
              HasSubstr("by worker-0 (4711) on node 0, fill"));
}

TEST(Cause, WithoutRemoteSamplesThereIsNone) {
  PlacedSite site;
  site.Use(0, 0, 0, 500).Touch(0, 0, 4000);
  EXPECT_TRUE(FindIn(site).causes.empty());
}

TEST(Cause, ThreadThatTouchedItMoved) {
  PlacedSite site;
  site.Use(1, 0, 0, 30).Use(1, 1, 0, 970).Touch(1, 0, 4000).Pages(0, 4000);
  site.builder().ThreadTotal(2).set_node_changes(1);
  site.Call("sched_setaffinity", 1).set_target_tid(0);
  const Found found = FindIn(site);
  EXPECT_EQ(found.ShareOf(CauseKind::kThreadMoved), 1);
  EXPECT_EQ(found.Evidence(CauseKind::kThreadMoved),
            "worker-1 (4712) touched it on node 0 and uses it from node 1; it changed its node 1 "
            "time; sched_setaffinity called 1 time");
}

// As xz's threads, which the kernel moves about: each is away from its own memory most of the time.
TEST(Cause, ThreadsThatWanderAreAwayWhereverTheirMemoryLies) {
  PlacedSite site(4);
  site.Blocks(4, 0, 4096).Pairs(0, 1000, 930, 1000).Pages(0, 4);
  for (int thread = 0; thread < 4; ++thread) {
    for (int node = 0; node < 4; ++node) site.Use(thread, node, 0, 100);
  }
  site.builder().ThreadTotal(1).set_node_changes(107);
  const Found found = FindIn(site);
  EXPECT_EQ(found.ShareOf(CauseKind::kThreadMoved), 1);
  EXPECT_EQ(found.Evidence(CauseKind::kThreadMoved),
            "each thread has its own, and worker-0 (4711) ran on 4 nodes; it changed its node 107 "
            "times");
}

TEST(Cause, MemoryOfSeveralThreadsIsNotWanderedFrom) {
  PlacedSite site(4);
  site.Blocks(4, 0, 4096).Pairs(0, 1000, 930, 850).Pages(0, 4);
  for (int node = 0; node < 4; ++node) site.Use(1, node, 0, 100);
  EXPECT_EQ(FindIn(site).ShareOf(CauseKind::kUnknown), 1);
}

TEST(Cause, FewPagesThatMovedDoNotExplainMany) {
  PlacedSite site;
  site.Use(1, 1, 0, 1000).Touch(1, 1, 1000).Pages(0, 500).Pages(1, 500);
  site.Pairs(4096, 5000, 5000).total().set_pages_moved(100);
  const Found found = FindIn(site);
  EXPECT_NEAR(found.ShareOf(CauseKind::kPageMoved), 0.4, 0.01);
  EXPECT_NEAR(found.ShareOf(CauseKind::kUnknown), 0.6, 0.01);
}

TEST(Cause, PositionsTellWhichTouchesAThreadUses) {
  constexpr uint64_t kFirstHalf = 0xffffffff;
  PlacedSite site;
  // Thread 0 touched the first half and thread 1 the second, both on node 0; then 1 moved.
  site.Use(0, 0, 0, 500, 0, kFirstHalf).Use(1, 1, 0, 500, 0, ~kFirstHalf);
  site.Touch(0, 0, 2000, kFirstHalf).Touch(1, 0, 2000, ~kFirstHalf);
  EXPECT_EQ(FindIn(site).ShareOf(CauseKind::kThreadMoved), 1);
}

TEST(Cause, PagesOfOneThreadEachAreThoseItTouched) {
  PlacedSite site;  // small blocks: no positions
  site.Use(0, 0, 0, 500).Use(1, 1, 0, 500).Touch(0, 0, 2000).Touch(1, 0, 2000);
  site.Pairs(4096, 300, 300, 300);
  EXPECT_EQ(FindIn(site).ShareOf(CauseKind::kThreadMoved), 1);
}

TEST(Cause, BlocksOfOneThreadEachShareTheirPositions) {
  PlacedSite site;
  site.Use(0, 1, 0, 350, 0, ~uint64_t{0}).Use(1, 1, 0, 650, 0, ~uint64_t{0});
  site.Touch(0, 0, 2000, ~uint64_t{0}).Touch(1, 0, 2000, ~uint64_t{0});
  site.Pairs(4096, 300, 300, 300);
  EXPECT_EQ(FindIn(site).ShareOf(CauseKind::kThreadMoved), 1);
}

TEST(Cause, SharedPagesWereTouchedByWhoeverWasFirst) {
  PlacedSite site;
  site.Use(0, 0, 0, 500).Use(1, 1, 0, 500).Touch(0, 0, 3000).Touch(1, 0, 1000);
  const Found found = FindIn(site);
  EXPECT_EQ(found.ShareOf(CauseKind::kTouchedElsewhere), 0.75);
  EXPECT_EQ(found.ShareOf(CauseKind::kThreadMoved), 0.25);
}

TEST(Cause, PolicyInForcePutItThere) {
  PlacedSite site;
  site.Use(0, 0, 1, 1000).Touch(0, 0, 2000).Pages(1, 2000).Policy("bind", {1}, 2000);
  site.Call("mbind", 0);
  const Found found = FindIn(site);
  EXPECT_EQ(found.ShareOf(CauseKind::kPolicy), 1);
  EXPECT_EQ(found.Evidence(CauseKind::kPolicy),
            "bind 1, the mapping's policy, on 100.0 % of its pages; mbind called 1 time");
}

TEST(Cause, PolicyOfTheThreadFromTheStart) {
  PlacedSite site;
  site.Use(0, 0, 0, 500).Use(0, 0, 1, 500).Touch(0, 0, 2000).Pages(0, 1000).Pages(1, 1000);
  site.Policy("interleave", {0, 1}, 2000, true);
  const Found found = FindIn(site);
  EXPECT_EQ(found.ShareOf(CauseKind::kPolicy), 1);
  EXPECT_THAT(found.Evidence(CauseKind::kPolicy), HasSubstr("from the start (numactl)"));
}

TEST(Cause, DefaultPolicyIsNoCause) {
  PlacedSite site;
  site.Use(1, 1, 0, 1000).Touch(0, 0, 2000).Pages(0, 2000).Policy("default", {}, 2000);
  EXPECT_EQ(FindIn(site).ShareOf(CauseKind::kTouchedElsewhere), 1);
}

TEST(Cause, PolicyOfHalfThePagesIsHalfTheCause) {
  PlacedSite site;
  site.Use(0, 0, 1, 1000).Touch(1, 1, 2000).Pages(1, 2000);
  site.Policy("bind", {1}, 1000).Policy("default", {}, 1000);
  const Found found = FindIn(site);
  EXPECT_EQ(found.ShareOf(CauseKind::kPolicy), 0.5);
  EXPECT_EQ(found.ShareOf(CauseKind::kTouchedElsewhere), 0.5);
}

TEST(Cause, PagesWhereNobodyTouchedThemWereMoved) {
  PlacedSite site;
  site.Use(0, 0, 1, 1000).Touch(0, 0, 2000).Pages(1, 2000);
  site.total().set_pages_moved(40);
  const Found found = FindIn(site);
  EXPECT_EQ(found.ShareOf(CauseKind::kPageMoved), 1);
  EXPECT_THAT(found.Evidence(CauseKind::kPageMoved),
              HasSubstr("another node than before 40 times"));
}

TEST(Cause, MovePagesCallTellsWhoMovedThem) {
  PlacedSite site;
  site.Use(0, 0, 1, 1000).Touch(0, 0, 2000).Pages(1, 2000);
  site.Call("move_pages", 0);
  EXPECT_THAT(FindIn(site).Evidence(CauseKind::kPageMoved), HasSubstr("move_pages called 1 time"));
}

TEST(Cause, RefusedCallMovedNothing) {
  PlacedSite site;
  site.Use(0, 0, 1, 1000).Touch(0, 0, 2000).Pages(1, 2000);
  site.Call("move_pages", 0).set_refused(1);
  EXPECT_EQ(FindIn(site).ShareOf(CauseKind::kUnknown), 1);
}

TEST(Cause, NodeWasFull) {
  PlacedSite site;
  site.Use(0, 0, 1, 1000).Touch(0, 0, 2000).Pages(0, 1000).Pages(1, 1000);
  site.Counters(0, 0, 1100).Counters(1, 1100, 0);
  const Found found = FindIn(site);
  EXPECT_EQ(found.ShareOf(CauseKind::kNodeFull), 1);
  EXPECT_THAT(found.Evidence(CauseKind::kNodeFull), HasSubstr("1,100 pages"));
}

TEST(Cause, FewPagesGivenElsewhereAreNotTheReasonForMany) {
  PlacedSite site;
  site.Use(0, 0, 1, 1000).Touch(0, 0, 2000).Pages(0, 1000).Pages(1, 1000);
  site.Counters(0, 0, 20).Counters(1, 20, 0);
  const Found found = FindIn(site);
  EXPECT_EQ(found.ShareOf(CauseKind::kUnknown), 1);
  EXPECT_THAT(found.Evidence(CauseKind::kUnknown), HasSubstr("nothing tells who moved them"));
}

TEST(Cause, PagesWithinTheErrorOfTheFaultsNeedNoOtherCause) {
  PlacedSite site;  // 46 % of 100 faults against 50 % of the pages
  site.Use(0, 0, 1, 500).Use(1, 1, 0, 500).Touch(0, 0, 54).Touch(1, 1, 46);
  site.Pages(0, 500).Pages(1, 500);
  site.total().set_pages_moved(3);
  EXPECT_EQ(FindIn(site).ShareOf(CauseKind::kPageMoved), 0);
}

TEST(Cause, HugePageOfTwoNodes) {
  PlacedSite site;
  site.Use(0, 0, 0, 1000).Use(1, 1, 0, 1000).Touch(0, 0, 32).Pages(0, 500);
  site.Pairs(4096, 1000, 1000).Pairs(2 << 20, 1000, 500);
  site.total().set_huge_pages(500);
  site.total().set_huge_pages_asked(500);
  const Found found = FindIn(site);
  EXPECT_EQ(found.ShareOf(CauseKind::kHugePage), 1);
  EXPECT_THAT(found.Evidence(CauseKind::kHugePage), HasSubstr("100.0 % of its pages are huge"));
}

TEST(Cause, HugePageOfOneNodeIsNoCause) {
  PlacedSite site;
  site.Use(0, 0, 0, 1000).Use(1, 1, 0, 1000).Touch(0, 0, 32).Pages(0, 500);
  site.Pairs(4096, 1000, 1000).Pairs(2 << 20, 1000, 998);
  site.total().set_huge_pages(500);
  site.total().set_huge_pages_asked(500);
  EXPECT_EQ(FindIn(site).ShareOf(CauseKind::kTouchedElsewhere), 1);
}

TEST(Cause, SmallPagesAreNoHugeOnes) {
  PlacedSite site;
  site.Use(0, 0, 0, 1000).Use(1, 1, 0, 1000).Touch(0, 0, 4000).Pages(0, 500);
  site.Pairs(4096, 1000, 1000).Pairs(2 << 20, 1000, 500);
  site.total().set_huge_pages_asked(500);
  EXPECT_EQ(FindIn(site).ShareOf(CauseKind::kHugePage), 0);
}

TEST(Cause, WithoutFaultsItIsUnknownAndSaysWhy) {
  PlacedSite site;
  site.Use(1, 1, 0, 1000).Pages(0, 100);
  const Found found = FindIn(site);
  EXPECT_EQ(found.ShareOf(CauseKind::kUnknown), 1);
  EXPECT_THAT(found.Evidence(CauseKind::kUnknown), HasSubstr("no page fault of it was sampled"));
  PlacedSite blind;
  blind.Use(1, 1, 0, 1000).Pages(0, 100);
  blind.builder().header().mutable_engines(1)->set_fault_period(0);
  EXPECT_EQ(FindIn(blind).Evidence(CauseKind::kUnknown), "page faults were not sampled");
}

// FindIn checks that the causes add up.
TEST(Cause, CausesAddUpToTheRemoteSamples) {
  std::mt19937 random(7);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  for (int round = 0; round < 300; ++round) {
    PlacedSite site(4);
    for (int i = 0; i < 6; ++i) {
      site.Use(static_cast<int>(below(4)), static_cast<int>(below(4)), static_cast<int>(below(4)),
               below(1000), 0, below(2) == 0 ? 0 : random());
      site.Touch(static_cast<int>(below(4)), static_cast<int>(below(4)), below(100), random());
      site.Pages(static_cast<int>(below(4)), below(1000));
    }
    if (below(2) == 0) site.Policy("bind", {static_cast<uint32_t>(below(4))}, below(100));
    if (below(2) == 0) site.Policy("default", {}, below(100));
    if (below(2) == 0)
      site.Pairs(4096, 500, below(500), below(500)).Pairs(2 << 20, 500, below(500));
    site.total().set_huge_pages(below(10));
    site.total().set_huge_pages_asked(10);
    FindIn(site);
  }
}

}  // namespace
}  // namespace memagent::viewer
