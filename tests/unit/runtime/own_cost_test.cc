#include "agent/runtime/own_cost.h"

#include <gtest/gtest.h>

namespace memagent::runtime {
namespace {

using ledger::CostKind;
using ledger::CostMeter;
using ledger::CostSums;

CostSums Repeated(uint64_t ticks, uint64_t weight, int times) {
  CostMeter meter;
  for (int i = 0; i < times; ++i) meter.Add(ticks, weight);
  return meter.Read();
}

CostSums& Sums(OwnCostInputs& inputs, CostKind kind) {
  return inputs.meters[static_cast<size_t>(kind)];
}

TEST(OwnCost, TakesTheClockReadOff) {
  const CostFigure figure = FigureOf(Repeated(300, 1000, 50), Repeated(60, 1000, 50), 0.5);
  EXPECT_EQ(figure.basis, CostBasis::kSampled);
  EXPECT_EQ(figure.count, 50'000u);
  EXPECT_EQ(figure.samples, 50u);
  EXPECT_DOUBLE_EQ(figure.mean_nanos, 120);
  EXPECT_DOUBLE_EQ(figure.total_nanos, 50'000 * 120.0);
  EXPECT_DOUBLE_EQ(figure.error_nanos, 0);  // all alike
}

TEST(OwnCost, IsNeverNegative) {
  EXPECT_EQ(FigureOf(Repeated(10, 1, 5), Repeated(60, 1, 5), 1).total_nanos, 0);
}

TEST(OwnCost, NothingTimedIsNoFigure) {
  EXPECT_EQ(FigureOf(CostSums{}, CostSums{}, 1).basis, CostBasis::kNone);
  EXPECT_EQ(EstimateOwnCost(OwnCostInputs{}).total_nanos, 0);
  EXPECT_EQ(EstimateOwnCost(OwnCostInputs{}).Share(), 0);
}

// 100 samples of 100 or 300 ticks: standard deviation 100, of the mean 10.05.
TEST(OwnCost, TheIntervalComesFromTheScatter) {
  CostMeter meter;
  for (int i = 0; i < 100; ++i) meter.Add(i % 2 == 0 ? 100 : 300, 10);
  const CostFigure figure = FigureOf(meter.Read(), CostSums{}, 2);
  EXPECT_DOUBLE_EQ(figure.mean_nanos, 400);
  EXPECT_NEAR(figure.error_nanos, 1.96 * 10.05 * 2 * 1000, 50);
}

// What was sampled and not timed costs as much as what was.
TEST(OwnCost, UntimedOccurrencesCount) {
  CostMeter meter;
  meter.Add(100, 10);
  meter.AddUntimed(30);
  EXPECT_DOUBLE_EQ(FigureOf(meter.Read(), CostSums{}, 1).total_nanos, 4000);
}

TEST(OwnCost, PartsAddUpAndLookUpsAreInsideAllocations) {
  OwnCostInputs inputs;
  inputs.nanos_per_tick = 0.5;
  Sums(inputs, CostKind::kClockRead) = Repeated(40, 100, 20);
  Sums(inputs, CostKind::kAllocation) = Repeated(240, 100, 20);    // 2,000 of 100 ns
  Sums(inputs, CostKind::kAllocationToTime) = Repeated(180, 100, 20);
  Sums(inputs, CostKind::kFreeToTime) = Repeated(80, 100, 20);     // of these 50 ns each
  Sums(inputs, CostKind::kFree) = Repeated(140, 100, 20);          // 2,000 of 50 ns
  Sums(inputs, CostKind::kNewStack) = Repeated(2040, 4, 5);        // 20 of 1,000 ns
  Sums(inputs, CostKind::kThreadStart) = Repeated(5000, 1, 3);     // nanoseconds already
  inputs.drain_cpu_nanos = 7000;
  inputs.start_cpu_nanos = 3000;
  inputs.access_samples = 10;
  inputs.sample_nanos = 2000;
  inputs.process_cpu_nanos = 1'365'000;
  const OwnCost cost = EstimateOwnCost(inputs);
  EXPECT_DOUBLE_EQ(cost.Of(CostPart::kAllocations).total_nanos, 200'000);
  EXPECT_DOUBLE_EQ(cost.Of(CostPart::kStackLookUps).total_nanos, 100'000);
  EXPECT_DOUBLE_EQ(cost.Of(CostPart::kFrees).total_nanos, 100'000);
  EXPECT_DOUBLE_EQ(cost.Of(CostPart::kNewStacks).total_nanos, 20'000);
  EXPECT_DOUBLE_EQ(cost.Of(CostPart::kThreadStarts).total_nanos, 15'000);
  EXPECT_DOUBLE_EQ(cost.Of(CostPart::kAccessSamples).total_nanos, 20'000);
  EXPECT_EQ(cost.Of(CostPart::kAccessSamples).basis, CostBasis::kTried);
  EXPECT_DOUBLE_EQ(cost.total_nanos, 200'000 + 100'000 + 20'000 + 15'000 + 20'000 + 10'000);
  EXPECT_DOUBLE_EQ(cost.Share(), 0.365);
}

// A walk of which three quarters were waiting for memory makes the program wait as long.
TEST(OwnCost, CachesAreRefilledForAsLongAsWalksWaited) {
  OwnCostInputs inputs;
  inputs.nanos_per_tick = 1;
  Sums(inputs, CostKind::kNewStack) = Repeated(1000, 4, 100);
  Sums(inputs, CostKind::kWalk) = Repeated(800, 1, 15);
  Sums(inputs, CostKind::kWalkAgain) = Repeated(200, 1, 15);
  EXPECT_EQ(EstimateOwnCost(inputs).Of(CostPart::kCacheRefills).basis, CostBasis::kNone);
  Sums(inputs, CostKind::kWalk) = Repeated(800, 1, 16);
  Sums(inputs, CostKind::kWalkAgain) = Repeated(200, 1, 16);
  const CostFigure refills = EstimateOwnCost(inputs).Of(CostPart::kCacheRefills);
  EXPECT_EQ(refills.basis, CostBasis::kInferred);
  EXPECT_DOUBLE_EQ(refills.total_nanos, 400 * 750.0);
  EXPECT_DOUBLE_EQ(refills.error_nanos, 400 * 375.0);
  EXPECT_DOUBLE_EQ(EstimateOwnCost(inputs).total_nanos, 400 * 1750.0);
  Sums(inputs, CostKind::kWalkAgain) = Repeated(900, 1, 16);  // never less than nothing
  EXPECT_EQ(EstimateOwnCost(inputs).Of(CostPart::kCacheRefills).total_nanos, 0);
}

TEST(OwnCost, PagesAreGivenBackAtTheEnd) {
  OwnCostInputs inputs;
  inputs.resident_pages = 1000;
  inputs.unmap_nanos = 650;
  EXPECT_DOUBLE_EQ(EstimateOwnCost(inputs).total_nanos, 650'000);
}

TEST(OwnCost, WithoutATrialSamplesCostWhatTheyDoElsewhere) {
  OwnCostInputs inputs;
  inputs.access_samples = 100;
  const OwnCost cost = EstimateOwnCost(inputs);
  EXPECT_EQ(cost.Of(CostPart::kAccessSamples).basis, CostBasis::kAssumed);
  EXPECT_GT(cost.total_nanos, 100 * 500);
}

}  // namespace
}  // namespace memagent::runtime
