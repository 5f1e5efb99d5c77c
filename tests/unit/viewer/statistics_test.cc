#include "viewer/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace memagent::viewer {
namespace {

// Reference values: R's prop.test(x, n, correct=FALSE)$conf.int, which is Wilson's interval, and
// Newcombe (1998), table II, method 10.
TEST(Wilson, MatchesPublishedValues) {
  const Interval low = WilsonInterval(15, 148);
  EXPECT_NEAR(low.low, 0.0624, 5e-5);
  EXPECT_NEAR(low.high, 0.1605, 5e-5);
  const Interval rare = WilsonInterval(1, 29);
  EXPECT_NEAR(rare.low, 0.0061, 5e-5);
  EXPECT_NEAR(rare.high, 0.1718, 5e-5);
}

TEST(Wilson, NoneOfManyStartsAtZeroAndEndsAboveIt) {
  const Interval none = WilsonInterval(0, 20);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.1611, 5e-5);
}

TEST(Wilson, AllOfManyEndsAtOne) {
  const Interval all = WilsonInterval(20, 20);
  EXPECT_NEAR(all.low, 0.8389, 5e-5);
  EXPECT_EQ(all.high, 1);
}

TEST(Wilson, NoSamplesMeansNothingIsKnown) {
  EXPECT_EQ(WilsonInterval(0, 0).low, 0);
  EXPECT_EQ(WilsonInterval(0, 0).high, 1);
}

// 600 samples that vary as much as 150 single ones do.
TEST(Wilson, ADesignEffectMakesItAsWideAsFewerSamplesWould) {
  const Interval fewer = WilsonInterval(50, 150);
  const Interval weighted = WilsonInterval(200, 600, 4);
  EXPECT_NEAR(weighted.low, fewer.low, 1e-12);
  EXPECT_NEAR(weighted.high, fewer.high, 1e-12);
}

TEST(Wilson, PartAboveWholeStaysInsideOne) {
  EXPECT_LE(WilsonInterval(30, 20).high, 1);
  EXPECT_LE(HalfWidth(30, 20), 1);
}

// Both ends are 1.96 of their own standard deviations away from what was estimated.
TEST(Estimate, EndsWhereTheEstimateWouldJustBeUnlikely) {
  const Interval interval = EstimateInterval(100, 900);
  for (double end : {interval.low, interval.high}) {
    EXPECT_NEAR(std::abs(100 - end), 1.959964 * std::sqrt(9 * end), 1e-3);
  }
  EXPECT_LT(interval.low, 100);
  EXPECT_GT(interval.high, 100);
}

TEST(Estimate, WithoutVarianceIsExact) {
  EXPECT_EQ(EstimateInterval(5, 0).low, 5);
  EXPECT_EQ(EstimateInterval(5, 0).high, 5);
}

TEST(Estimate, IsNeverBelowZero) {
  EXPECT_GE(EstimateInterval(2, 1e9).low, 0);
  EXPECT_EQ(EstimateInterval(0, 1e9).low, 0);
}

Interval Difference(uint64_t x, uint64_t m, uint64_t y, uint64_t n) {
  return DifferenceInterval(Share(x, m), WilsonInterval(x, m), Share(y, n), WilsonInterval(y, n));
}

TEST(Difference, MatchesNewcombesTable) {
  // 56/70 - 48/80: 0.0524 to 0.3339.
  const Interval change = Difference(48, 80, 56, 70);
  EXPECT_NEAR(change.low, 0.0524, 5e-5);
  EXPECT_NEAR(change.high, 0.3339, 5e-5);
  // 10/10 - 0/20: 0.6791 to 1.
  const Interval extreme = Difference(0, 20, 10, 10);
  EXPECT_NEAR(extreme.low, 0.6791, 5e-5);
  EXPECT_EQ(extreme.high, 1);
}

TEST(Wilson, AHigherLevelIsWider) {
  EXPECT_LT(WilsonInterval(50, 150, 1, 3).low, WilsonInterval(50, 150).low);
  EXPECT_GT(WilsonInterval(50, 150, 1, 3).high, WilsonInterval(50, 150).high);
}

}  // namespace
}  // namespace memagent::viewer
