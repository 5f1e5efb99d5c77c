#include "viewer/diff.h"

#include <gtest/gtest.h>

#include <string>

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

View RunOf(const std::vector<Row>& rows) {
  ProfileBuilder b;
  FillHeader(b, 1);
  const uint32_t module = b.Module("/opt/demo/stencil", "build");
  uint64_t all = 0;
  for (const Row& row : rows) {
    const uint32_t stack = b.Stack(
        {b.Frame(module, 0x100 + row.address, row.function), b.Frame(module, 0x900, row.caller)});
    SetEvidence(b.SiteTotal(b.Site(row.kind, stack)), row.samples, 0, 0);
    all += row.samples;
  }
  b.totals().mutable_accounting()->set_samples_seen(all);
  b.totals().mutable_accounting()->set_attributed(all);
  return ViewOf(b.Bytes());
}

const DiffRow* Find(const Diff& diff, const std::string& function) {
  for (const DiffRow& row : diff.rows) {
    if (row.any().where.short_function == function) return &row;
  }
  return nullptr;
}

TEST(Diff, SameStackAtOtherAddressIsTheSameSite) {
  const View before = RunOf({{"a", 500}, {"b", 500}});
  const View after = RunOf({{"a", 100, 0x40}, {"b", 900, 0x80}});
  const Diff diff = Compare(before, after);
  ASSERT_EQ(diff.rows.size(), 2u);
  EXPECT_EQ(diff.matched_by_stack, 2u);
  EXPECT_EQ(Find(diff, "a")->verdict, Verdict::kBetter);
  EXPECT_EQ(Find(diff, "b")->verdict, Verdict::kWorse);
}

TEST(Diff, UnchangedSiteIsSameWhenAnotherShrinks) {
  const View before = RunOf({{"a", 5000}, {"b", 500}});
  const View after = RunOf({{"a", 500}, {"b", 500}});
  const Diff diff = Compare(before, after);
  EXPECT_EQ(Find(diff, "a")->verdict, Verdict::kBetter);
  EXPECT_EQ(Find(diff, "b")->verdict, Verdict::kSame);
}

TEST(Diff, SitesOfOneFunctionPairInTheOrderOfTheirCode) {
  const View before = RunOf({{"a", 900, 0x10}, {"a", 100, 0x20}});
  const View after = RunOf({{"a", 90, 0x35}, {"a", 910, 0x28}});
  const Diff diff = Compare(before, after);
  ASSERT_EQ(diff.rows.size(), 2u);
  EXPECT_EQ(diff.rows[0].before->samples, 900u);
  EXPECT_EQ(diff.rows[0].after->samples, 910u);
}

TEST(Diff, OtherCallersFallBackToFunctionAndKind) {
  const View before = RunOf({{"a", 500}});
  const View after = RunOf({{"a", 500, 0, v1::HEAP, "run"}});
  const Diff diff = Compare(before, after);
  ASSERT_EQ(diff.rows.size(), 1u);
  EXPECT_EQ(diff.rows[0].matched_by, MatchedBy::kFunction);
}

TEST(Diff, OtherKindIsAnotherSite) {
  const View before = RunOf({{"a", 500}});
  const View after = RunOf({{"a", 500, 0, v1::MMAP}});
  const Diff diff = Compare(before, after);
  EXPECT_EQ(diff.added, 1u);
  EXPECT_EQ(diff.gone, 1u);
}

TEST(Diff, UnmatchedSitesAreNewOrGoneUnlessWeak) {
  const View before = RunOf({{"a", 500}, {"old", 200}, {"rare", 3}});
  const View after = RunOf({{"a", 500}, {"fresh", 300}});
  const Diff diff = Compare(before, after);
  EXPECT_EQ(Find(diff, "old")->verdict, Verdict::kGone);
  EXPECT_EQ(Find(diff, "fresh")->verdict, Verdict::kNew);
  EXPECT_EQ(Find(diff, "rare")->verdict, Verdict::kNotEnoughSamples);
  EXPECT_EQ(diff.matched_samples_before, 500u);
}

TEST(Diff, SameSettingsAreComparable) {
  const View before = RunOf({{"a", 500}});
  const View after = RunOf({{"a", 400}});
  const Diff diff = Compare(before, after);
  EXPECT_TRUE(diff.differences.empty());
  EXPECT_TRUE(diff.same_build);
}

TEST(Diff, OtherEngineArgumentsAndNodesAreNamed) {
  const View before = RunOf({{"a", 500}});
  View after = RunOf({{"a", 500}});
  after.engine = "ibs";
  after.node_count = 2;
  after.profile.header.mutable_process()->set_arguments(1, "8192");
  const Diff diff = Compare(before, after);
  ASSERT_EQ(diff.differences.size(), 3u);
  EXPECT_EQ(diff.differences[0], "engine (software / ibs)");
  EXPECT_EQ(diff.differences[1], "number of nodes (1 / 2)");
  EXPECT_EQ(diff.differences[2], "arguments (4096 -t 4 / 8192 -t 4)");
}

}  // namespace
}  // namespace memagent::viewer
