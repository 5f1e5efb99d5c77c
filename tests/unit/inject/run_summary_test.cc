#include "inject/run_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace memagent::inject {
namespace {

using ::testing::HasSubstr;

TEST(RunReport, LinesOfSeveralProcessesAreKeptInOrder) {
  const RunReport report = ParseRunReport(
      "profile\t7\t/tmp/a.memagent\nprofile\t9\t/tmp/b c.memagent\nproblem\t8\tThe disk is "
      "full.\n");
  ASSERT_EQ(report.profiles.size(), 2u);
  EXPECT_EQ(report.profiles[1].pid, 9);
  EXPECT_EQ(report.profiles[1].text, "/tmp/b c.memagent");
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_EQ(report.problems[0].text, "The disk is full.");
}

TEST(RunReport, RepeatedLineCountsOnce) {
  EXPECT_EQ(ParseRunReport("profile\t7\ta\nprofile\t7\ta\n").profiles.size(), 1u);
}

TEST(RunReport, GarbageIsLeftOut) {
  const RunReport report = ParseRunReport(
      "\n\t\nprofile\nprofile\t\t\nprofile\tx\ty\nprofile\t-3\ty\nprofile\t3x\ty\nprofile\t3\t\n"
      "profiles\t3\ty\nprofile\t99999999999\ty\n");
  EXPECT_TRUE(report.profiles.empty());
  EXPECT_TRUE(report.problems.empty());
}

TEST(RunReport, LastProfileOfAProcessThatExecsWins) {
  const RunReport report = ParseRunReport("profile\t7\tsh\nprofile\t7\tapp\nprofile\t8\tchild\n");
  ASSERT_NE(ProfileOf(report, 7), nullptr);
  EXPECT_EQ(ProfileOf(report, 7)->text, "app");
  EXPECT_EQ(ProfileOf(report, 1), nullptr);
}

TEST(MeasuredText, CountsSamplesSitesLossesAndEngine) {
  profile::Profile profile;
  profile.accounting.set_samples_seen(12345);
  profile.accounting.set_attributed(12000);
  profile.accounting.add_dropped()->set_count(45);
  profile.sites[3].total.set_samples(12000);
  profile.sites[4].total.set_samples(0);
  v1::Engine* refused = profile.header.add_engines();
  refused->set_kind(v1::Engine::IBS);
  v1::Engine* engine = profile.header.add_engines();
  engine->set_kind(v1::Engine::SOFTWARE);
  engine->set_in_use(true);
  engine->set_rate_hz(1000);
  EXPECT_EQ(
      MeasuredText(profile),
      "12,345 samples, 97.2 % of them on 1 site, 45 lost; engine software, 1,000 samples/s per "
      "thread");
}

TEST(MeasuredText, NoSampleNeedsNoShare) {
  EXPECT_EQ(MeasuredText(profile::Profile()), "0 samples; engine none");
}

TEST(OptionLinesText, WhatWasNotFollowedIsAWarning) {
  profile::Profile profile;
  v1::Event event;
  event.set_code("foreign_malloc");
  event.set_text("Said by the report.");
  profile.events.push_back(event);
  EXPECT_EQ(OptionLinesText(profile), "");
  event.set_code("option_ignored");
  event.set_text("option \"place\" is not followed: there is no memory.");
  profile.events.push_back(event);
  EXPECT_EQ(OptionLinesText(profile),
            "memagent: warning: option \"place\" is not followed: there is no memory.\n");
}

TEST(PlacementLinesText, EachRuleIsALineAndAWarningWhereItFailed) {
  profile::Profile profile;
  EXPECT_EQ(PlacementLinesText(profile), "");
  v1::AppliedPlacement placement;
  placement.set_rule("fn:f=local");
  placement.set_sites("what f\x1b[2J allocates");
  profile.applied_placements.push_back(placement);
  placement.set_sites_matched(1);
  placement.set_blocks(2);
  profile.applied_placements.push_back(placement);
  EXPECT_EQ(PlacementLinesText(profile),
            "memagent: warning: fn:f=local matched no allocation of this run: what f?[2J allocates\n"
            "memagent: fn:f=local placed 2 blocks, 0.0 KiB, of what f?[2J allocates\n");
}

TEST(SummaryText, AlwaysThreeLinesAndTheLastIsTheNextCommand) {
  const RunReport report =
      ParseRunReport("profile\t7\t/nowhere/it's.memagent\nprofile\t8\tchild\n");
  const std::string text = SummaryText(report, 7, "");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, HasSubstr("(and 1 profile of other programs it started)\n"));
  EXPECT_TRUE(text.ends_with("next: memagent report '/nowhere/it'\\''s.memagent'\n")) << text;
}

TEST(SummaryText, NoProfileSaysWhyInThreeLines) {
  const std::string text = SummaryText(RunReport(), 7, "it is static.");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, HasSubstr("it is static."));
  EXPECT_THAT(text, HasSubstr("no profile was written"));
  EXPECT_THAT(SummaryText(ParseRunReport("problem\t7\tThe disk is full.\n"), 7, ""),
              HasSubstr("nothing was measured: The disk is full."));
}

}  // namespace
}  // namespace memagent::inject
