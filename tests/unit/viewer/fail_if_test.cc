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
