#include <gtest/gtest.h>

#include <algorithm>

#include "agent/capture/period_jitter.h"
#include "agent/runtime/access_events.h"

namespace memagent::runtime {
namespace {

capture::EnginePlan Plan(uint64_t period, uint64_t step, uint64_t shortest) {
  capture::EnginePlan plan;
  plan.period = period;
  plan.period_step = step;
  plan.shortest_period = shortest;
  return plan;
}

TEST(NextPeriod, IsAllowedAndWithinASixteenthOfTheScaledPeriod) {
  const capture::EnginePlan ibs = Plan(160'000, 16, 0xa0);
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  for (int i = 0; i <= 64; ++i) {
    const uint64_t period = NextPeriod(ibs, 3, UINT64_MAX / 64 * static_cast<uint64_t>(i));
    EXPECT_EQ(period % 16, 0u);
    least = std::min(least, period);
    most = std::max(most, period);
  }
  EXPECT_EQ(least, 450'000u);
  EXPECT_GE(most, 509'900u);
  EXPECT_LE(most, 510'016u);
}

TEST(NextPeriod, HighBitsOfTheRandomNumberMatter) {
  const capture::EnginePlan clock = Plan(1'000'000, 1, 10'000);
  EXPECT_LT(NextPeriod(clock, 1, 1u << 31), NextPeriod(clock, 1, uint64_t{1} << 63));
}

TEST(NextPeriod, ShortestPeriodStays) { EXPECT_EQ(NextPeriod(Plan(0xa0, 16, 0xa0), 1, 0), 0xa0u); }

TEST(NextPeriod, HardwareThatVariesItselfKeepsTheNominalPeriod) {
  capture::EnginePlan spe = Plan(1024 * 1024, 256, 1024);
  spe.varies_itself = true;
  spe.uses_aux = true;
  EXPECT_EQ(NextPeriod(spe, 1, 0), 1024u * 1024);
  EXPECT_EQ(NextPeriod(spe, 2, UINT64_MAX), 2048u * 1024);
  EXPECT_EQ(NextPeriod(spe, 1u << 31, 0), 0xffff'ff00u);
}

TEST(NextPeriod, LargestPeriodsDoNotOverflow) {
  EXPECT_EQ(NextPeriod(Plan(uint64_t{1} << 62, 1, 1), 4, UINT64_MAX), capture::kLargestPeriod);
}

}  // namespace
}  // namespace memagent::runtime
