#include "viewer/quantiles.h"

#include <gtest/gtest.h>

namespace memagent::viewer {
namespace {

// Reference values: tables of the distributions (NIST/SEMATECH e-Handbook 1.3.6.7).
TEST(NormalBound, MatchesTheTable) {
  EXPECT_NEAR(NormalBound(0.025), kZ95, 1e-8);
  EXPECT_NEAR(NormalBound(0.05), 1.644854, 1e-5);
  EXPECT_NEAR(NormalBound(0.0005), 3.290527, 1e-5);
  EXPECT_NEAR(NormalBound(0.4), 0.253347, 1e-5);
}

TEST(StudentBound, MatchesTheTable) {
  EXPECT_NEAR(StudentBound(0.025, 1), 12.706, 1e-3);
  EXPECT_NEAR(StudentBound(0.025, 2), 4.303, 1e-3);
  EXPECT_NEAR(StudentBound(0.025, 10), 2.228, 1e-3);
  EXPECT_NEAR(StudentBound(0.005, 4), 4.604, 1e-3);
  EXPECT_NEAR(StudentBound(0.001, 100), 3.174, 1e-3);
}

TEST(StudentBound, LiesBetweenForDegreesThatAreNotWhole) {
  EXPECT_LT(StudentBound(0.025, 2.5), StudentBound(0.025, 2));
  EXPECT_GT(StudentBound(0.025, 2.5), StudentBound(0.025, 3));
}

TEST(StudentBound, OfManyDegreesIsNormal) {
  EXPECT_NEAR(StudentBound(0.025, 1e7), kZ95, 1e-4);
  EXPECT_NEAR(StudentBound(0.025, 1e5), kZ95, 1e-4);
}

TEST(StudentBound, FewerThanOneDegreeCountsAsOne) {
  EXPECT_EQ(StudentBound(0.025, 0.1), StudentBound(0.025, 1));
}

}  // namespace
}  // namespace memagent::viewer
