#include "viewer/fail_if.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/viewer/simulated_run.h"

namespace memagent::viewer {
namespace {

// Site 1 is a fifth remote before and half after; site 2 never. 4000 and 2000 samples.
View RunWith(double remote) {
  Chance chance(99);
  std::vector<SimulatedSample> samples;
  for (size_t i = 0; i < 6000; ++i) {
    SimulatedSample sample;
    sample.site = i % 3 == 0 ? 2 : 1;
    sample.thread = 1 + static_cast<uint32_t>(i % 4);
    sample.memory_node = sample.site == 1 && chance.Is(remote) ? 1 : 0;
    samples.push_back(sample);
  }
  return SimulatedRun(samples, chance);
}

class FailIf : public testing::Test {
 protected:
  FailOutcome Check(const std::string& text) {
    const ParsedCondition parsed = ParseFailCondition(text);
    EXPECT_TRUE(parsed.condition) << parsed.problem;
    return parsed.condition ? CheckFailCondition(*parsed.condition, diff_) : FailOutcome();
  }
  size_t Failures(const std::string& text) { return Check(text).failures.size(); }

  View before_ = RunWith(0.2);
  View after_ = RunWith(0.5);
  Diff diff_ = Compare(DiffSide(before_, "a"), DiffSide(after_, "b"));
};

TEST_F(FailIf, ConditionOnASiteHoldsBeyondItsInterval) {
  EXPECT_EQ(Failures("S1.remote>+5"), 1u);
  EXPECT_EQ(Failures("S1.remote>+26"), 1u);
  EXPECT_EQ(Failures("S1.remote>+30"), 0u);  // the change itself is about 30
  EXPECT_EQ(Failures("S2.remote>+5"), 0u);
  EXPECT_EQ(Failures("S1.remote<-5"), 0u);
}

TEST_F(FailIf, WhatFailedIsSaid) {
  const FailOutcome outcome = Check("S1.remote>+5");
  EXPECT_NE(outcome.failures.at(0).find("--fail-if S1.remote>+5: S1 site1 changed by +"),
            std::string::npos)
      << outcome.failures.at(0);
  EXPECT_NE(outcome.failures.at(0).find(" points, at least +"), std::string::npos);
}

TEST_F(FailIf, PatternsAndFunctionNamesSelectSites) {
  EXPECT_EQ(Failures("S*.remote>+5"), 1u);
  EXPECT_EQ(Failures("*.remote<+90"), 2u);
  EXPECT_EQ(Failures("site1.remote>+5"), 1u);
  EXPECT_EQ(Failures("site*.remote>+5"), 1u);
  EXPECT_EQ(Failures("x*.remote>+5"), 0u);
}

TEST_F(FailIf, TotalsHaveTheirColumns) {
  EXPECT_EQ(Failures("total.remote>+2"), 1u);
  EXPECT_EQ(Failures("total.remote > +2"), 1u);
  EXPECT_EQ(Failures("total.verdict=worse"), 1u);
}

TEST_F(FailIf, VerdictsAreCompared) {
  EXPECT_EQ(Failures("*.verdict=worse"), 1u);
  EXPECT_EQ(Failures("S1.verdict!=same"), 1u);
  EXPECT_EQ(Failures("*.verdict=not enough samples"), 0u);
}

TEST_F(FailIf, WallTimeOfOneRunEachIsNotJudged) {
  const FailOutcome outcome = Check("total.wall>+5");
  EXPECT_TRUE(outcome.failures.empty());
  EXPECT_EQ(outcome.unjudged.size(), 1u);
}

TEST_F(FailIf, SiteThatIsNotThereIsAProblem) {
  EXPECT_NE(Check("S9.remote>+5").problem.find("there is no site S9"), std::string::npos);
}

TEST_F(FailIf, ColumnThatCannotBeComparedIsAProblem) {
  EXPECT_NE(Check("S1.latency>+5").problem.find("tells no latency"), std::string::npos);
  after_.node_count = 4;
  diff_ = Compare(DiffSide(before_, "a"), DiffSide(after_, "b"));
  EXPECT_NE(Check("S1.remote>+5").problem.find("nodes of the runs differ"), std::string::npos);
  EXPECT_EQ(Failures("S1.share>+5"), 0u);
}

TEST_F(FailIf, PatternThatMatchesNothingIsSaid) {
  const FailOutcome outcome = Check("Gird*.remote>+5");
  EXPECT_TRUE(outcome.failures.empty());
  ASSERT_EQ(outcome.unjudged.size(), 1u);
  EXPECT_EQ(outcome.unjudged[0], "--fail-if Gird*.remote>+5: no site matches.");
}

TEST_F(FailIf, VerdictOfTheTotalNeedsNodes) {
  for (View* view : {&before_, &after_}) view->node_count = 1;
  diff_ = Compare(DiffSide(before_, "a"), DiffSide(after_, "b"));
  EXPECT_NE(Check("total.verdict=worse").problem.find("no run tells nodes apart"),
            std::string::npos);
  EXPECT_EQ(Check("S1.verdict=worse").problem, "");
}

// Nothing is half as sure as five of five samples that were remote, and none of five before.
class FailIfOfFewSamples : public testing::Test {
 protected:
  // Sites 2 to `last` have five samples each, site 1 has 2000 local ones.
  static View Run(int32_t memory_node, uint32_t last) {
    Chance chance(5);
    std::vector<SimulatedSample> samples;
    for (uint32_t i = 0; i < 2000; ++i) samples.push_back({.thread = 1 + i % 4, .site = 1});
    for (uint32_t site = 2; site <= last; ++site) {
      for (uint32_t i = 0; i < 5; ++i) {
        samples.push_back({.thread = 1, .site = site, .memory_node = memory_node});
      }
    }
    return SimulatedRun(samples, chance);
  }
  FailOutcome Check(const std::string& text) const {
    return CheckFailCondition(*ParseFailCondition(text).condition, diff_);
  }

  View before_ = Run(0, 4);
  View after_ = Run(1, 5);
  Diff diff_ = Compare(DiffSide(before_, "a"), DiffSide(after_, "b"));
};

TEST_F(FailIfOfFewSamples, ThoseThatAreNotJudgedDoNotFailAPattern) {
  for (const char* text : {"*.remote>+5", "S*.remote>+5", "site*.remote>+5", "*.time<-5"}) {
    const FailOutcome outcome = Check(text);
    EXPECT_TRUE(outcome.failures.empty()) << outcome.failures[0];
    EXPECT_TRUE(outcome.unjudged.empty()) << text;  // S1 is judged
  }
}

TEST_F(FailIfOfFewSamples, OneThatIsNamedSaysThatItIsNotJudged) {
  for (const char* text :
       {"site2.remote>+5", "site2.time>+10", "site2.share>+5", "site2.verdict=worse"}) {
    const FailOutcome outcome = Check(text);
    EXPECT_TRUE(outcome.failures.empty()) << text;
    ASSERT_EQ(outcome.unjudged.size(), 1u) << text;
    EXPECT_NE(outcome.unjudged[0].find("site2 can't be judged, it has too few samples"),
              std::string::npos)
        << outcome.unjudged[0];
  }
  EXPECT_EQ(Check("site2.verdict!=same").failures.size(), 1u);
  EXPECT_EQ(Check("site2.verdict=not enough samples").failures.size(), 1u);
}

TEST_F(FailIfOfFewSamples, NoneThatIsJudgedOfManyIsSaidOnce) {
  for (DiffRow& row : diff_.rows) row.verdict = row.remote_verdict = Verdict::kNotEnoughSamples;
  for (const char* text : {"*.remote>+5", "*.verdict=worse"}) {
    const FailOutcome outcome = Check(text);
    ASSERT_EQ(outcome.unjudged.size(), 1u) << text;
    EXPECT_NE(outcome.unjudged[0].find("none of 5 sites can be judged"), std::string::npos);
  }
}

TEST_F(FailIfOfFewSamples, PartOfNothingIsSaid) {
  for (DiffRow& row : diff_.rows) row.cost_verdict = Verdict::kWorse;
  const FailOutcome outcome = Check("site5.time>+10");  // a new site
  ASSERT_EQ(outcome.unjudged.size(), 1u);
  EXPECT_NE(outcome.unjudged[0].find("before there was nothing"), std::string::npos);
}

// With as many sites, one of 20 intervals lies beyond by chance.
TEST_F(FailIf, NameOfSeveralSitesIsJudgedAsAPattern) {
  for (DiffRow& row : diff_.rows) row.remote.judged = {-1, 1};  // as if of very many
  EXPECT_EQ(Failures("S*.remote>+5"), 0u);
  EXPECT_EQ(Failures("site1.remote>+5"), 1u);
  for (View* view : {&before_, &after_}) {
    for (SiteView& site : view->sites) site.where.short_function = "both";
  }
  EXPECT_EQ(Failures("both.remote>+5"), 0u);
  EXPECT_EQ(Failures("S1.remote>+5"), 1u);
}

TEST(ParseFailCondition, WrongGrammarIsOneSentence) {
  for (const char* text :
       {"", "S1", "S1.remote", "S1.speed>+5", ".remote>+5", "S1.remote>5", "S1.remote>+",
        "S1.remote>+x", "S1.remote=+5", "S1.remote>+5x", "S1.wall>+5", "total.share>+5",
        "S1.verdict=bad", "S1.verdict>worse", "S1.remote>+-5", "S1.remote>+inf"}) {
    const ParsedCondition parsed = ParseFailCondition(text);
    EXPECT_FALSE(parsed.condition) << text;
    EXPECT_EQ(parsed.problem.back(), '.') << text;
    EXPECT_EQ(parsed.problem.find('\n'), std::string::npos) << text;
  }
}

TEST(ParseFailCondition, NamesMayHoldDots) {
  const ParsedCondition parsed = ParseFailCondition("f.remote.part.remote>-2.5");
  ASSERT_TRUE(parsed.condition) << parsed.problem;
  EXPECT_EQ(parsed.condition->what, "f.remote.part");
  EXPECT_DOUBLE_EQ(parsed.condition->threshold, -0.025);
}

}  // namespace
}  // namespace memagent::viewer
