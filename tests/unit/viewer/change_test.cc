#include "viewer/change.h"

#include <gtest/gtest.h>

#include <cmath>

namespace memagent::viewer {
namespace {

TEST(Change, OfTwoRunsHasNewcombesInterval) {
  const Change change = MakeChange({MeasuredShare(48, 80, 1)}, {MeasuredShare(56, 70, 1)});
  EXPECT_NEAR(change.Value(), 0.2, 1e-12);
  EXPECT_NEAR(change.interval.low, 0.0524, 5e-5);
  EXPECT_NEAR(change.interval.high, 0.3339, 5e-5);
  EXPECT_EQ(change.basis, Basis::kSampling);
  EXPECT_EQ(change.samples_before, 48u);
}

TEST(Change, OfARunWithoutSamplesIsUnknown) {
  const Change change = MakeChange({MeasuredShare(0, 0, 1)}, {MeasuredShare(5, 70, 1)});
  EXPECT_FALSE(change.IsKnown());
  EXPECT_FALSE(change.before.has_value());
  EXPECT_TRUE(change.after.has_value());
  EXPECT_FALSE(change.HasInterval());
}

TEST(Change, OfAnAmountThatSamplingSaysNothingOfHasNoInterval) {
  const Change change =
      MakeChange({MeasuredAmount(100, std::nullopt)}, {MeasuredAmount(80, std::nullopt)});
  EXPECT_TRUE(change.IsKnown());
  EXPECT_FALSE(change.HasInterval());
}

Measured Wall(double seconds) { return MeasuredAmount(seconds, std::nullopt); }

TEST(Change, OfAsManyRunsOnBothSidesHasStudentsInterval) {
  const Change change = MakeChange({Wall(40), Wall(42), Wall(44)}, {Wall(30), Wall(31), Wall(32)});
  EXPECT_EQ(change.Value(), -11);
  EXPECT_EQ(change.basis, Basis::kRuns);
  EXPECT_NEAR(change.HalfWidth(), StudentBound(0.025, 4) * std::sqrt(5.0 / 3), 1e-6);
}

// By hand: variances 4 of three runs and 1/2 of two, (4/3 + 1/4)^2 / ((4/3)^2/2 + (1/4)^2) degrees.
TEST(Change, OfUnlikeNumbersOfRunsHasWelchsInterval) {
  const Change change = MakeChange({Wall(40), Wall(42), Wall(44)}, {Wall(30), Wall(31)});
  const double variance = 4.0 / 3 + 1.0 / 4;
  const double degrees = variance * variance / (8.0 / 9 + 1.0 / 16);
  EXPECT_NEAR(change.HalfWidth(), StudentBound(0.025, degrees) * std::sqrt(variance), 1e-6);
}

TEST(Change, OfSeveralRunsThatAgreeKeepsTheSamplingInterval) {
  const Change one = MakeChange({MeasuredShare(50, 100, 1)}, {MeasuredShare(50, 100, 1)});
  const Change two = MakeChange({MeasuredShare(50, 100, 1), MeasuredShare(50, 100, 1)},
                                {MeasuredShare(50, 100, 1), MeasuredShare(50, 100, 1)});
  EXPECT_EQ(two.basis, Basis::kSampling);
  EXPECT_NEAR(two.HalfWidth(), one.HalfWidth() / std::sqrt(2.0), 1e-9);
}

TEST(Change, OfOneRunTakesTheOtherSidesSpread) {
  const Change change = MakeChange({Wall(40), Wall(42), Wall(44)}, {Wall(31)});
  EXPECT_NEAR(change.HalfWidth(), StudentBound(0.025, 2) * std::sqrt(4 * (1 + 1.0 / 3)), 1e-6);
}

TEST(Change, PlacementWidensTheIntervalOfOneRunEach) {
  const Change plain = MakeChange({MeasuredShare(500, 1000, 1)}, {MeasuredShare(500, 1000, 1)});
  const Change placed =
      MakeChange({MeasuredShare(500, 1000, 1)}, {MeasuredShare(500, 1000, 1)}, {1, 0.1});
  EXPECT_NEAR(placed.HalfWidth(), std::hypot(plain.HalfWidth(), 0.1 * kZ95), 1e-6);
  EXPECT_EQ(placed.basis, Basis::kPlacement);
}

TEST(Change, JudgedTogetherWithOthersIsWider) {
  const Change change =
      MakeChange({MeasuredShare(500, 1000, 1)}, {MeasuredShare(600, 1000, 1)}, {20, 0});
  EXPECT_LT(change.judged.low, change.interval.low);
  EXPECT_GT(change.judged.high, change.interval.high);
}

TEST(Change, PartAboveWholeStaysAShare) { EXPECT_EQ(MeasuredShare(30, 20, 1).value, 1); }

}  // namespace
}  // namespace memagent::viewer
