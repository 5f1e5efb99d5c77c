#include "viewer/clumping.h"

#include <gtest/gtest.h>

#include "tests/unit/viewer/simulated_run.h"

namespace memagent::viewer {
namespace {

// Threads whose samples come in runs of `length` equal values, +1 or -1.
Residuals Runs(size_t threads, size_t samples, size_t length) {
  Chance chance(7);
  Residuals residuals(threads);
  for (std::vector<double>& values : residuals) {
    double value = 1;
    for (size_t i = 0; i < samples; ++i) {
      if (i % length == 0) value = chance.Is(0.5) ? 1 : -1;
      values.push_back(value);
    }
  }
  return residuals;
}

TEST(Clumping, IndependentSamplesAreNotClumped) {
  const Clumping clumping = ClumpingOf(Runs(8, 4000, 1), {});
  EXPECT_NEAR(clumping.inflation, 1, 3 * clumping.chance_error);
  EXPECT_NEAR(clumping.within, 1, 0.01);
  EXPECT_EQ(clumping.differences, 16u);
}

TEST(Clumping, RunsOfTenVaryTenTimesAsMuch) {
  const Clumping clumping = ClumpingOf(Runs(8, 6000, 10), {});
  EXPECT_NEAR(clumping.inflation, 10, 10 * 3 * clumping.chance_error);
  EXPECT_GT(ClumpedDesignEffect(clumping, 48'000), 5);
}

// A thread that is remote as a whole is no clump: it is so in every run.
TEST(Clumping, WhatStaysInAThreadIsNotChance) {
  Residuals residuals = {std::vector<double>(1000, 0.5), std::vector<double>(1000, -0.5)};
  const Clumping clumping = ClumpingOf(residuals, {});
  EXPECT_EQ(clumping.within, 0);
  EXPECT_EQ(ClumpedDesignEffect(clumping, 2000), 1);
}

// First local, then remote, and back: so in both runs.
TEST(Clumping, WhatBothRunsDoIsNotChance) {
  Chance chance(5);
  Residuals runs[2];
  for (Residuals& run : runs) {
    run.resize(4);
    for (std::vector<double>& values : run) {
      for (size_t i = 0; i < 1200; ++i) {
        values.push_back((i / 400 == 1 ? 0.4 : -0.2) + (chance.Is(0.5) ? 0.1 : -0.1));
      }
    }
  }
  EXPECT_GT(ClumpingOf(runs[0], {}).inflation, 20);
  const Clumping paired = ClumpingOf(runs[0], runs[1]);
  EXPECT_LT(paired.inflation, 1 + 3 * paired.chance_error);
}

TEST(Clumping, FewSamplesSayNothing) {
  const Clumping clumping = ClumpingOf(Runs(8, 11, 1), {});
  EXPECT_EQ(clumping.differences, 0u);
  EXPECT_EQ(ClumpedDesignEffect(clumping, 1000), 1);
  EXPECT_EQ(ClumpedDesignEffect(ClumpingOf({}, {}), 1000), 1);
}

// A tenth of the samples is kept: those look a tenth as clumped.
TEST(Clumping, OfAllSamplesIsMoreThanOfTheKeptOnes) {
  Clumping clumping;
  clumping.kept = 2000;
  clumping.within = 1;
  clumping.inflation = 3;
  clumping.chance_error = 0.1;
  clumping.differences = 2000;
  EXPECT_NEAR(ClumpedDesignEffect(clumping, 20'000), 20, 2);
  EXPECT_NEAR(ClumpedDesignEffect(clumping, 2000), 3, 0.1);
}

TEST(Clumping, WhatAFewKeptSamplesCannotTellFromChanceDoesNotCount) {
  Clumping clumping;
  clumping.kept = 100;
  clumping.within = 1;
  clumping.inflation = 1.2;
  clumping.chance_error = 0.3;
  clumping.differences = 40;
  EXPECT_EQ(ClumpedDesignEffect(clumping, 1'000'000), 1);
}

}  // namespace
}  // namespace memagent::viewer
