#include "agent/ledger/cost_meter.h"

#include <gtest/gtest.h>

namespace memagent::ledger {
namespace {

TEST(CostMeter, SumsByWeight) {
  CostMeter meter;
  meter.Add(100, 16);
  meter.Add(200, 1024);
  const CostSums sums = meter.Read();
  EXPECT_EQ(sums.occurrences, 1040u);
  EXPECT_EQ(sums.samples, 2u);
  EXPECT_EQ(sums.weight, 1040u);
  EXPECT_EQ(sums.weighted_ticks, 16 * 100u + 1024 * 200u);
  EXPECT_EQ(sums.ticks, 300u);
  EXPECT_EQ(sums.squared_ticks, 50'000u);
}

TEST(CostMeter, AnInterruptedSampleCountsAsAnOccurrenceOnly) {
  CostMeter meter;
  meter.Add(100, 10);
  meter.Add(10'000'000, 10);
  meter.AddUntimed(10);
  const CostSums sums = meter.Read();
  EXPECT_EQ(sums.occurrences, 30u);
  EXPECT_EQ(sums.interrupted, 1u);
  EXPECT_EQ(sums.samples, 1u);
  EXPECT_EQ(sums.weight, 10u);
  EXPECT_EQ(sums.ticks, 100u);
}

TEST(CostMeter, ForgetsWhatTheParentMeasured) {
  CostMeter meter;
  meter.Add(100, 10);
  meter.Forget();
  EXPECT_EQ(meter.Read().occurrences, 0u);
  EXPECT_EQ(meter.Read().weighted_ticks, 0u);
}

// Sampled with these gaps, the weights add up to the hooks that ran.
TEST(SampleGap, WeightsStandForAllHooks) {
  ForgetCosts();
  constexpr uint64_t kHooks = 3'000'000;
  uint64_t stood_for = 0;
  SampleGap gap = NextSampleGap(true);
  EXPECT_EQ(gap.weight, 16u);
  for (uint64_t hook = gap.hooks; hook <= kHooks; hook += gap.hooks) {
    stood_for += gap.weight;
    MeterOf(CostKind::kClockRead).Add(1, gap.weight);
    gap = NextSampleGap(false);
  }
  EXPECT_EQ(gap.weight, 1024u);
  EXPECT_NEAR(static_cast<double>(stood_for), kHooks, 0.03 * kHooks);
  ForgetCosts();
}

// Threads of few hooks are sampled as often as the hooks of one long thread.
TEST(SampleGap, WeightsStandForTheHooksOfShortThreads) {
  ForgetCosts();
  for (int i = 0; i < 1000; ++i) MeterOf(CostKind::kClockRead).Add(1, 1);  // the gap has grown
  constexpr uint64_t kThreads = 20'000;
  constexpr uint64_t kHooksOfEach = 100;
  uint64_t stood_for = 0;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    SampleGap gap = NextSampleGap(true);
    for (uint64_t hook = gap.hooks; hook <= kHooksOfEach; hook += gap.hooks) {
      stood_for += gap.weight;
      gap = NextSampleGap(false);
    }
  }
  constexpr double kAll = kThreads * kHooksOfEach;
  EXPECT_NEAR(static_cast<double>(stood_for), kAll, 0.1 * kAll);
  ForgetCosts();
}

}  // namespace
}  // namespace memagent::ledger
