#include "viewer/diff.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/viewer/sample_profiles.h"

namespace memagent::viewer {
namespace {

struct Row {
  std::string function;
  uint64_t samples;
  uint64_t address = 0;
  v1::RegionKind kind = v1::HEAP;
  std::string caller = "main";
};

View RunOf(const std::vector<Row>& rows, const std::string& build = "build") {
  ProfileBuilder b;
  FillHeader(b, 1);
  const uint32_t module = b.Module("/opt/demo/stencil");
  uint64_t all = 0;
  for (const Row& row : rows) {
    const uint32_t stack = b.Stack(
        {b.Frame(module, 0x100 + row.address, row.function), b.Frame(module, 0x900, row.caller)});
    SetEvidence(b.SiteTotal(b.Site(row.kind, stack)), row.samples, 0, 0);
    all += row.samples;
  }
  b.totals().mutable_accounting()->set_samples_seen(all);
  b.totals().mutable_accounting()->set_attributed(all);
  View view = ViewOf(b.Bytes());  // which takes no notice of builds
  for (auto& known : view.profile.modules) known.set_build_id(build);
  return view;
}

Diff CompareTwo(const View& before, const View& after) {
  return Compare(DiffSide(before, "before"), DiffSide(after, "after"));
}

const DiffRow* Find(const Diff& diff, const std::string& function) {
  for (const DiffRow& row : diff.rows) {
    if (row.any().where.short_function == function) return &row;
  }
  return nullptr;
}

size_t MatchedSites(const Diff& diff, MatchedBy how) {
  return diff.matched[static_cast<size_t>(how)].sites;
}

TEST(Diff, SameStackAtOtherAddressIsTheSameSite) {
  const View before = RunOf({{"a", 500}, {"b", 500}});
  const View after = RunOf({{"a", 100, 0x40}, {"b", 900, 0x80}}, "next build");
  const Diff diff = CompareTwo(before, after);
  ASSERT_EQ(diff.rows.size(), 2u);
  EXPECT_EQ(MatchedSites(diff, MatchedBy::kCallStack), 2u);
  EXPECT_EQ(diff.moved_lines, 0u);
  EXPECT_EQ(Find(diff, "a")->verdict, Verdict::kBetter);
  EXPECT_EQ(Find(diff, "b")->verdict, Verdict::kWorse);
}

TEST(Diff, UnchangedSiteIsSameWhenAnotherShrinks) {
  const View before = RunOf({{"a", 50'000}, {"b", 5000}});
  const View after = RunOf({{"a", 5000}, {"b", 5000}});
  const Diff diff = CompareTwo(before, after);
  EXPECT_EQ(Find(diff, "a")->verdict, Verdict::kBetter);
  EXPECT_EQ(Find(diff, "b")->verdict, Verdict::kSame);
}

TEST(Diff, SitesOfOneFunctionPairInTheOrderOfTheirCode) {
  const View before = RunOf({{"a", 900, 0x10}, {"a", 100, 0x20}});
  const View after = RunOf({{"a", 90, 0x35}, {"a", 910, 0x28}}, "next build");
  const Diff diff = CompareTwo(before, after);
  ASSERT_EQ(diff.rows.size(), 2u);
  EXPECT_EQ(diff.rows[0].before.first()->samples, 900u);
  EXPECT_EQ(diff.rows[0].after.first()->samples, 910u);
}

// Each run has one of the two calls only.
TEST(Diff, OtherCallsOfTheSameBuildAreOtherSites) {
  const View before = RunOf({{"a", 500, 0x10}});
  const View after = RunOf({{"a", 500, 0x20}});
  EXPECT_EQ(CompareTwo(before, after).rows.size(), 2u);
  DiffSide both(before, "before");
  both.Add(after, "after");
  const Diff diff = Compare(both, both);
  ASSERT_EQ(diff.rows.size(), 2u);
  EXPECT_EQ(diff.rows[0].verdict, Verdict::kNoClearChange);
}

TEST(Diff, OtherCallersFallBackToFunctionAndKind) {
  const View before = RunOf({{"a", 500}});
  const View after = RunOf({{"a", 500, 0, v1::HEAP, "run"}}, "next build");
  const Diff diff = CompareTwo(before, after);
  ASSERT_EQ(diff.rows.size(), 1u);
  EXPECT_EQ(diff.rows[0].matched_by, MatchedBy::kFunction);
}

TEST(Diff, UnmatchedSitesAreNewOrGoneUnlessWeak) {
  const View before = RunOf({{"a", 500}, {"old", 200}, {"rare", 3}});
  const View after = RunOf({{"a", 500}, {"fresh", 300}});
  const Diff diff = CompareTwo(before, after);
  EXPECT_EQ(Find(diff, "old")->verdict, Verdict::kGone);
  EXPECT_EQ(Find(diff, "fresh")->verdict, Verdict::kNew);
  EXPECT_EQ(Find(diff, "rare")->verdict, Verdict::kNotEnoughSamples);
  EXPECT_EQ(diff.matched[static_cast<size_t>(MatchedBy::kCallStack)].samples_before, 500u);
}

TEST(Diff, SeveralRunsAreOneSide) {
  const View b1 = RunOf({{"a", 5000}, {"b", 5000}});
  const View b2 = RunOf({{"b", 5200}, {"a", 4800}});
  const View a1 = RunOf({{"a", 1000}, {"b", 5000}, {"c", 200}});
  const View a2 = RunOf({{"b", 5000}, {"a", 1100}});
  DiffSide before(b1, "b1");
  before.Add(b2, "b2");
  DiffSide after(a1, "a1");
  after.Add(a2, "a2");
  const Diff diff = Compare(before, after);
  ASSERT_EQ(diff.rows.size(), 3u);
  const DiffRow& a = *Find(diff, "a");
  EXPECT_NEAR(*a.share.before, 0.49, 1e-9);
  EXPECT_EQ(a.before.Samples(), 9800u);
  EXPECT_EQ(a.before.Id(), "S1");
  EXPECT_EQ(a.after.Id(), "S2");
  EXPECT_TRUE(diff.wall.IsKnown());
  EXPECT_TRUE(diff.wall.HasInterval());
  EXPECT_EQ(Find(diff, "c")->after.Id(), "S3");
}

TEST(Diff, SiteOfALaterFileIsNamedWithItsNumber) {
  const View b1 = RunOf({{"a", 5000}});
  const View b2 = RunOf({{"a", 5000}, {"b", 200}});
  DiffSide before(b1, "b1");
  before.Add(b2, "b2");
  const View a1 = RunOf({{"a", 5000}, {"b", 200}});
  const Diff diff = Compare(before, DiffSide(a1, "a1"));
  EXPECT_EQ(Find(diff, "b")->before.Id(), "S2/2");
}

TEST(Diff, SameSettingsAreComparable) {
  const View before = RunOf({{"a", 500}});
  const View after = RunOf({{"a", 400}});
  const Diff diff = CompareTwo(before, after);
  EXPECT_TRUE(diff.comparable.AreComparable());
  EXPECT_TRUE(diff.same_build);
}

TEST(Diff, OtherEngineArgumentsAndNodesAreNamed) {
  const View before = RunOf({{"a", 500}});
  View after = RunOf({{"a", 500}});
  after.engine = "ibs";
  after.node_count = 2;
  after.profile.header.mutable_process()->set_arguments(1, "8192");
  const Comparability comparable = CompareTwo(before, after).comparable;
  ASSERT_EQ(comparable.differences.size(), 3u);
  EXPECT_EQ(comparable.differences[0], "engine (software / ibs)");
  EXPECT_EQ(comparable.differences[1], "number of nodes (1 / 2)");
  EXPECT_EQ(comparable.differences[2], "arguments (4096 -t 4 / 8192 -t 4)");
  EXPECT_FALSE(comparable.shares);
  EXPECT_FALSE(comparable.nodes);
  EXPECT_EQ(comparable.left_out.size(), 2u);
}

TEST(Diff, OfOtherEnginesJudgesNothing) {
  const View before = RunOf({{"a", 500}, {"b", 500}});
  View after = RunOf({{"a", 900}, {"b", 100}});
  after.engine = "ibs";
  for (const DiffRow& row : CompareTwo(before, after).rows) {
    EXPECT_EQ(row.verdict, Verdict::kNotComparable);
  }
}

TEST(Diff, OtherPeriodCountsByItsWeight) {
  const View before = RunOf({{"a", 4000}, {"b", 4000}});
  View after = RunOf({{"a", 2000}, {"b", 2000}});
  after.engine_record->set_period(2'000'000);
  const Diff diff = CompareTwo(before, after);
  EXPECT_EQ(diff.comparable.differences.size(), 1u);
  EXPECT_EQ(Find(diff, "a")->amount.Value(), 0);
  EXPECT_FALSE(diff.comparable.AreComparable());
}

TEST(Diff, OtherCpuHasNoTimes) {
  const View before = RunOf({{"a", 500}});
  View after = RunOf({{"a", 500}});
  after.profile.header.mutable_machine()->set_cpu_model("Another");
  const Diff diff = CompareTwo(before, after);
  EXPECT_FALSE(diff.comparable.times);
  EXPECT_FALSE(diff.amount_is_time);
  EXPECT_TRUE(diff.comparable.shares);
}

TEST(Diff, HardwareIsJudgedByLatency) {
  const View before = ViewOf(StencilBytes(2, true));
  const View after = ViewOf(StencilBytes(2, true));
  const Diff diff = CompareTwo(before, after);
  EXPECT_TRUE(diff.has_latency);
  EXPECT_FALSE(diff.amount_is_time);
  const DiffRow& grid = diff.rows.front();
  EXPECT_EQ(*grid.latency.before, *grid.latency.after);
  EXPECT_GT(grid.latency.HalfWidth(), 0);
  EXPECT_GT(*grid.latency_share.before, 0.9);
  EXPECT_EQ(diff.CostOf(grid).Value(), 0);
}

TEST(Diff, MeanOfFewLatenciesHasNoInterval) {
  const View before = ViewOf(StencilBytes(2, true));
  View after = ViewOf(StencilBytes(2, true));
  LatencySum& latency = after.sites[0].access.latency;
  latency.cycles = latency.cycles / latency.samples * 29;
  latency.samples = 29;
  const DiffRow row = CompareTwo(before, after).rows.front();
  EXPECT_TRUE(row.latency.IsKnown());
  EXPECT_FALSE(row.latency.HasInterval());
}

TEST(Diff, LatenciesOfOneBucketHaveAnInterval) {
  View before = ViewOf(StencilBytes(2, true));
  View after = ViewOf(StencilBytes(2, true));
  for (View* view : {&before, &after}) {
    AccessView& access = view->sites[0].access;
    access.histogram = {{128, access.latency.samples}};
    access.latency.cycles = access.latency.samples * (view == &before ? 132 : 133);
  }
  const DiffRow row = CompareTwo(before, after).rows.front();
  EXPECT_GT(row.latency.HalfWidth(), 0.1);
}

TEST(Diff, RemoteShareThatWentAwayIsFixed) {
  const View before = ViewOf(StencilBytes(2));
  View after = ViewOf(StencilBytes(2));
  after.sites[0].remote_samples = 20;
  const Diff diff = CompareTwo(before, after);
  EXPECT_EQ(diff.rows.front().remote_verdict, Verdict::kFixed);
  EXPECT_EQ(diff.rows.front().verdict, Verdict::kFixed);
}

}  // namespace
}  // namespace memagent::viewer
