#include "agent/capture/period_jitter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

namespace memagent::capture {
namespace {

constexpr PeriodGrid kAny;

struct Drawn {
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  long double mean = 0;
  std::set<uint64_t> values;  // the first hundred or so
};

Drawn Draw(uint64_t nominal, const PeriodGrid& rule, int count = 100'000) {
  std::mt19937_64 random(12345);
  Drawn drawn;
  for (int i = 0; i < count; ++i) {
    const uint64_t period = JitteredPeriod(nominal, rule, random());
    drawn.least = std::min(drawn.least, period);
    drawn.most = std::max(drawn.most, period);
    drawn.mean += static_cast<long double>(period) / count;
    if (drawn.values.size() < 100) drawn.values.insert(period);
    EXPECT_EQ(period % rule.granule, 0u);
    if (period % rule.granule != 0) break;
  }
  return drawn;
}

// How far the mean of the draws may be off by chance: 5 standard errors of a uniform spread.
long double Tolerance(uint64_t nominal, const PeriodGrid& rule, int count = 100'000) {
  const long double width = static_cast<long double>(nominal) / 8 + 2.0L * rule.granule;
  return 5 * width / std::sqrt(12.0L * count) + 1e-9L;
}

TEST(PeriodJitter, SpreadIsASixteenthToBothSides) {
  for (const uint64_t nominal : {uint64_t{160}, uint64_t{1'000'000}, uint64_t{1} << 40}) {
    const Drawn drawn = Draw(nominal, kAny);
    EXPECT_GE(drawn.least, nominal - nominal / 16);
    EXPECT_LE(drawn.most, nominal + nominal / 16);
    // All of it is used.
    EXPECT_LE(drawn.least, nominal - nominal / 16 + nominal / 1000);
    EXPECT_GE(drawn.most, nominal + nominal / 16 - nominal / 1000);
    EXPECT_GE(drawn.values.size(), 21u);
  }
}

TEST(PeriodJitter, EveryValueOfASmallSpreadIsEquallyLikely) {
  // 160 +- 10, from evenly spaced random numbers: exact.
  std::vector<int> counts(21);
  constexpr int kPerValue = 1000;
  constexpr uint64_t kStep = UINT64_MAX / (21 * kPerValue);
  for (uint64_t i = 0; i < 21 * kPerValue; ++i) {
    ++counts.at(JitteredPeriod(160, kAny, i * kStep + kStep / 2) - 150);
  }
  for (const int count : counts) EXPECT_EQ(count, kPerValue);
}

TEST(PeriodJitter, MeanIsTheNominalPeriodForEveryEngine) {
  const uint64_t nominals[] = {256,         1000,        1024,       4001,
                               65'536,      100'003,     1'000'000,  0x7fff'fff0,
                               0xdead'beef, 0xe000'0000, 123'456'789};
  for (const PeriodGrid& rule : {kAny, kIbsPeriods, kSpePeriods}) {
    for (const uint64_t nominal : nominals) {
      const Drawn drawn = Draw(nominal, rule);
      EXPECT_NEAR(static_cast<double>(drawn.mean - static_cast<long double>(nominal)), 0,
                  static_cast<double>(Tolerance(nominal, rule)))
          << nominal << " in steps of " << rule.granule;
      EXPECT_GE(drawn.least, rule.minimum);
      EXPECT_LE(drawn.most, rule.maximum);
      EXPECT_GE(drawn.least + rule.granule, nominal - nominal / 16);
      EXPECT_LE(drawn.most, nominal + nominal / 16 + rule.granule);
    }
  }
}

TEST(PeriodJitter, LargestPeriodsDoNotOverflow) {
  const uint64_t nominals[] = {kLargestPeriod / 17 * 16, kLargestPeriod - 1000, kLargestPeriod,
                               uint64_t{1} << 62};
  for (const PeriodGrid& rule : {kAny, kIbsPeriods}) {
    for (const uint64_t nominal : nominals) {
      const Drawn drawn = Draw(nominal, rule);
      EXPECT_LE(drawn.most, kLargestPeriod);
      EXPECT_GE(drawn.least, nominal - nominal / 16 - rule.granule);
      const long double error = drawn.mean / static_cast<long double>(nominal) - 1;
      EXPECT_NEAR(static_cast<double>(error), 0, 0.0006) << nominal;
    }
    for (const uint64_t random : {uint64_t{0}, UINT64_MAX}) {
      const uint64_t half = uint64_t{1} << 62;
      const uint64_t period = JitteredPeriod(half, rule, random);
      EXPECT_NEAR(static_cast<double>(period), static_cast<double>(half),
                  static_cast<double>(half / 16 + rule.granule));
      EXPECT_NE(period, half);
    }
  }
}

TEST(PeriodJitter, SpreadShrinksAtABoundSoThatTheMeanStays) {
  // 0x90 itself: nothing can be shorter.
  EXPECT_EQ(Draw(0x90, kIbsPeriods).most, 0x90u);
  const Drawn near_minimum = Draw(0x98, kIbsPeriods);
  EXPECT_EQ(near_minimum.least, 0x90u);
  EXPECT_NEAR(static_cast<double>(near_minimum.mean), 0x98, 0.2);
  EXPECT_EQ(Draw(kSpePeriods.maximum, kSpePeriods).least, kSpePeriods.maximum);
  const uint64_t near_maximum = kSpePeriods.maximum - 0x1'0000;
  EXPECT_NEAR(static_cast<double>(Draw(near_maximum, kSpePeriods).mean),
              static_cast<double>(near_maximum), 1000);
}

TEST(PeriodJitter, PeriodBeyondABoundBecomesTheBound) {
  for (const uint64_t random : {uint64_t{0}, UINT64_MAX / 3, UINT64_MAX}) {
    EXPECT_EQ(JitteredPeriod(0, kAny, random), 1u);
    EXPECT_EQ(JitteredPeriod(1, kIbsPeriods, random), 0x90u);
    EXPECT_EQ(JitteredPeriod(255, kSpePeriods, random), 256u);
    EXPECT_EQ(JitteredPeriod(UINT64_MAX, kSpePeriods, random), 0xffff'ff00u);
    EXPECT_EQ(JitteredPeriod(UINT64_MAX, kAny, random), kLargestPeriod);
    EXPECT_EQ(JitteredPeriod(UINT64_MAX, kIbsPeriods, random), kLargestPeriod / 16 * 16);
  }
}

TEST(PeriodJitter, BoundsThatAreNoMultiplesAreRoundedInwards) {
  const PeriodGrid rule = {.granule = 256, .minimum = 1000, .maximum = 1300};
  for (const uint64_t nominal : {0, 1000, 1100, 1200, 5000}) {
    const Drawn drawn = Draw(nominal, rule, 1000);
    EXPECT_GE(drawn.least, 1024u);
    EXPECT_LE(drawn.most, 1280u);
  }
}

TEST(AllowedPeriod, IsTheNextMultipleBelowOrTheBound) {
  EXPECT_EQ(AllowedPeriod(1000, kAny), 1000u);
  EXPECT_EQ(AllowedPeriod(0x100f, kIbsPeriods), 0x1000u);
  EXPECT_EQ(AllowedPeriod(0x95, kIbsPeriods), 0x90u);
  EXPECT_EQ(AllowedPeriod(0, kIbsPeriods), 0x90u);
  EXPECT_EQ(AllowedPeriod(300, kSpePeriods), 256u);
  EXPECT_EQ(AllowedPeriod(UINT64_MAX, kSpePeriods), 0xffff'ff00u);
  EXPECT_EQ(AllowedPeriod(UINT64_MAX, kAny), kLargestPeriod);
}

TEST(ScaledPeriod, SaturatesAtTheLargest) {
  EXPECT_EQ(ScaledPeriod(1'000'000, 8), 8'000'000u);
  EXPECT_EQ(ScaledPeriod(kLargestPeriod, 1), kLargestPeriod);
  EXPECT_EQ(ScaledPeriod(kLargestPeriod, 2), kLargestPeriod);
  EXPECT_EQ(ScaledPeriod(uint64_t{1} << 62, 4), kLargestPeriod);
  EXPECT_EQ(ScaledPeriod(UINT64_MAX, UINT64_MAX), kLargestPeriod);
  EXPECT_EQ(ScaledPeriod(5, 0), 0u);
}

}  // namespace
}  // namespace memagent::capture
