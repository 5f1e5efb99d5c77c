#include "agent/runtime/budget.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace memagent::runtime {
namespace {

// A program that runs on one CPU, for which the agent's cost follows the rates.
class BudgetTest : public testing::Test {
 protected:
  // One interval in which tracking every block would cost `tracking` of the program's time and the
  // nominal period `sampling`.
  std::optional<Budget::Step> Interval(double tracking, double sampling, double seconds = 0.1) {
    const Rates& rates = budget_.rates();
    const double nanos = seconds * 1e9;
    // Blocks of 64 bytes; what is left out costs a twentieth.
    const double picked = rates.sample_bytes == 1 ? 1 : 64.0 / rates.sample_bytes;
    cost_.program += nanos;
    cost_.tracking += nanos * tracking * (0.05 + 0.95 * std::min(1.0, picked));
    cost_.sampling += nanos * sampling / rates.period_factor;
    now_ += Budget::kIntervalNanos;
    return budget_.Judge(now_, cost_);
  }

  Budget budget_{0.01, {}};
  CostSoFar cost_;
  Nanos now_ = 1;
};

TEST_F(BudgetTest, NothingHappensWithinTheBudget) {
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(Interval(0.005, 0.003));
  EXPECT_EQ(budget_.rates(), Rates{});
}

TEST_F(BudgetTest, AStormOfAllocationsIsTrackedLess) {
  for (int i = 0; i < 20; ++i) Interval(0.15, 0.001);
  EXPECT_GT(budget_.rates().sample_bytes, 64u);
  EXPECT_EQ(budget_.rates().period_factor, 1u);
  const CostSoFar before = cost_;
  EXPECT_FALSE(Interval(0.15, 0.001));
  EXPECT_LT(cost_.tracking - before.tracking, 0.01 * 1e8);
}

TEST_F(BudgetTest, CostlySamplesAreTakenLessOften) {
  for (int i = 0; i < 20; ++i) Interval(0.001, 0.05);
  EXPECT_EQ(budget_.rates().sample_bytes, 1u);
  EXPECT_EQ(budget_.rates().period_factor, 8u);
}

TEST_F(BudgetTest, AStepSaysWhatItWasTakenFor) {
  Interval(0, 0);
  const auto step = Interval(0.02, 0.005);
  ASSERT_TRUE(step);
  EXPECT_TRUE(step->lower);
  EXPECT_NEAR(step->overhead, 0.025, 1e-9);
  EXPECT_NEAR(step->tracking, 0.02, 1e-9);
  EXPECT_EQ(step->rates.sample_bytes, Budget::kFirstSampleBytes);
  EXPECT_EQ(budget_.steps(), 1u);
}

TEST_F(BudgetTest, RatesComeBackInCalmAndStayThere) {
  for (int i = 0; i < 20; ++i) Interval(0.15, 0.05);
  EXPECT_NE(budget_.rates(), Rates{});
  for (int i = 0; i < 20 * Budget::kCalmIntervals; ++i) Interval(0.0005, 0.0002);
  EXPECT_EQ(budget_.rates(), Rates{});
  EXPECT_FALSE(Interval(0.0005, 0.0002));
}

TEST_F(BudgetTest, ASteadyLoadDoesNotMakeRatesSwing) {
  for (int i = 0; i < 50; ++i) Interval(0.06, 0.004);
  const uint32_t steps = budget_.steps();
  for (int i = 0; i < 500; ++i) Interval(0.06, 0.004);
  EXPECT_EQ(budget_.steps(), steps);
}

// What is left out costs so little that a raise looks safe, and is not.
TEST_F(BudgetTest, ARaiseThatFailsIsTriedLessAndLessOften) {
  for (int i = 0; i < 2000; ++i) Interval(0.04, 0);
  const uint32_t steps = budget_.steps();
  for (int i = 0; i < 2000; ++i) Interval(0.04, 0);
  EXPECT_LE(budget_.steps() - steps, 4u);
  EXPECT_LE(steps, 20u);
}

TEST_F(BudgetTest, TheCoarsestRatesAreTheEnd) {
  for (int i = 0; i < 100; ++i) Interval(10, 10);
  EXPECT_EQ(budget_.rates().sample_bytes, Budget::kMostSampleBytes);
  EXPECT_EQ(budget_.rates().period_factor, Budget::kMostPeriodFactor);
  EXPECT_FALSE(Interval(10, 10));
}

TEST_F(BudgetTest, BlocksThatAreToBePlacedAreNotLeftOut) {
  budget_ = Budget(0.01, {}, 16384);
  uint32_t announced = 0;
  for (int i = 0; i < 100; ++i) {
    if (const auto step = Interval(10, 10)) announced = step->rates.sample_bytes;
  }
  EXPECT_EQ(announced, 16384u);
  EXPECT_EQ(budget_.rates().sample_bytes, 16384u);
}

TEST_F(BudgetTest, SamplesAreNotGivenAwayForACostThatIsNotTheirs) {
  for (int i = 0; i < 100; ++i) Interval(10, 0.001);  // what is left out costs half already
  EXPECT_EQ(budget_.rates().sample_bytes, Budget::kMostSampleBytes);
  EXPECT_EQ(budget_.rates().period_factor, 1u);
}

TEST_F(BudgetTest, AProgramThatSleepsIsNotJudged) {
  Interval(0, 0);
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(Interval(0.5, 0.5, 0.001));
  EXPECT_TRUE(Interval(0.5, 0.5, 0.002));
}

TEST_F(BudgetTest, NeverFinerThanAsked) {
  budget_ = Budget(0.01, {1024, 1});
  for (int i = 0; i < 20; ++i) Interval(0.5, 0);
  EXPECT_GT(budget_.rates().sample_bytes, 1024u);
  for (int i = 0; i < 20 * Budget::kCalmIntervals; ++i) Interval(0, 0);
  EXPECT_EQ(budget_.rates(), (Rates{1024, 1}));
}

TEST_F(BudgetTest, WithoutABudgetNothingChanges) {
  budget_ = Budget(0, {});
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(Interval(1, 1));
}

}  // namespace
}  // namespace memagent::runtime
