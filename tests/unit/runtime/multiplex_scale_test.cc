#include "agent/runtime/multiplex_scale.h"

#include <gtest/gtest.h>

namespace memagent::runtime {
namespace {

constexpr uint64_t kMilli = 1'000'000;

uint64_t SumOf(MultiplexScale& scale, int samples) {
  uint64_t sum = 0;
  for (int i = 0; i < samples; ++i) sum += scale.Next();
  return sum;
}

TEST(MultiplexScale, EventThatRunsAllTheTimeIsNotScaled) {
  MultiplexScale scale;
  scale.Update(1000 * kMilli, 999 * kMilli);
  EXPECT_EQ(SumOf(scale, 100'000), 100'000u);
}

TEST(MultiplexScale, CountsAddUpToTheWhole) {
  MultiplexScale scale;
  scale.Update(500 * kMilli, 200 * kMilli);
  EXPECT_DOUBLE_EQ(scale.ratio(), 2.5);
  EXPECT_EQ(SumOf(scale, 1000), 2500u);
}

TEST(MultiplexScale, EverySampleStandsForOneAtLeastAndTheRatioIsReachedEverywhere) {
  for (uint64_t running = 1; running < 100; ++running) {
    MultiplexScale scale;
    scale.Update(100 * kMilli, running * kMilli);
    double exact = 0;
    uint64_t sum = 0;
    for (int i = 0; i < 500; ++i) {
      const uint64_t one = scale.Next();
      EXPECT_GE(one, 1u);
      sum += one;
      exact += scale.ratio();
      EXPECT_NEAR(static_cast<double>(sum), exact, 1.001);
    }
  }
}

TEST(MultiplexScale, ChangeIsFollowedWithinAWindow) {
  MultiplexScale scale;
  scale.Update(1000 * kMilli, 1000 * kMilli);
  scale.Update(1050 * kMilli, 1000 * kMilli);  // its turn may still come
  EXPECT_EQ(scale.ratio(), 1);
  scale.Update(1100 * kMilli, 1025 * kMilli);
  EXPECT_DOUBLE_EQ(scale.ratio(), 4);
  scale.Update(1200 * kMilli, 1125 * kMilli);
  EXPECT_EQ(scale.ratio(), 1);
}

TEST(MultiplexScale, FirstSamplesAreScaledByWhatIsKnown) {
  MultiplexScale scale;
  scale.Update(5 * kMilli, 1 * kMilli);
  EXPECT_EQ(scale.ratio(), 1);
  scale.Update(20 * kMilli, 10 * kMilli);
  EXPECT_DOUBLE_EQ(scale.ratio(), 2);
  scale.Update(40 * kMilli, 10 * kMilli);
  EXPECT_DOUBLE_EQ(scale.ratio(), 4);
}

TEST(MultiplexScale, EventThatNeverRanKeepsItsScale) {
  MultiplexScale scale;
  scale.Update(1000 * kMilli, 0);
  EXPECT_EQ(scale.ratio(), 1);
  EXPECT_EQ(scale.Next(), 1u);
}

TEST(MultiplexScale, TimesThatGoBackDoNoHarm) {
  MultiplexScale scale;
  scale.Update(1000 * kMilli, 1000 * kMilli);
  scale.Update(10, 10);
  EXPECT_EQ(scale.ratio(), 1);
}

}  // namespace
}  // namespace memagent::runtime
