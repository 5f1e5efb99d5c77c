#include "agent/aggregate/reservoir.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace memagent::aggregate {
namespace {

KeptSample Sample(uint64_t time) {
  KeptSample sample = {};
  sample.time = time;
  return sample;
}

TEST(Reservoir, KeepsEverythingWhileThereIsRoom) {
  Reservoir reservoir(10);
  for (uint64_t i = 0; i < 10; ++i) reservoir.Offer(Sample(i));
  ASSERT_EQ(reservoir.kept().size(), 10u);
  for (uint64_t i = 0; i < 10; ++i) EXPECT_EQ(reservoir.kept()[i].time, i);
}

TEST(Reservoir, NeverKeepsMoreThanItsSizeNorOneTwice) {
  Reservoir reservoir(100);
  for (uint64_t i = 0; i < 10'000; ++i) reservoir.Offer(Sample(i));
  EXPECT_EQ(reservoir.offered(), 10'000u);
  std::set<uint64_t> times;
  for (const KeptSample& sample : reservoir.kept()) times.insert(sample.time);
  EXPECT_EQ(times.size(), 100u);
}

TEST(Reservoir, SizeZeroKeepsNothing) {
  Reservoir reservoir(0);
  for (uint64_t i = 0; i < 100; ++i) reservoir.Offer(Sample(i));
  EXPECT_TRUE(reservoir.kept().empty());
  EXPECT_EQ(reservoir.offered(), 100u);
}

// Chi-square over 50 equal parts of the stream, 49 degrees of freedom: the mean is 49, the 99.99 %
// quantile 97.6. The generator's seed is fixed, so the outcome is too.
TEST(Reservoir, EveryPartOfTheStreamIsKeptEquallyOften) {
  constexpr uint64_t kOffered = 1'000'000;
  constexpr size_t kParts = 50;
  constexpr double kExpected = 20'000.0 / kParts;
  Reservoir reservoir(20'000);
  for (uint64_t i = 0; i < kOffered; ++i) reservoir.Offer(Sample(i));
  std::vector<double> kept(kParts);
  for (const KeptSample& sample : reservoir.kept()) ++kept[sample.time * kParts / kOffered];
  double chi_square = 0;
  for (double count : kept) chi_square += (count - kExpected) * (count - kExpected) / kExpected;
  EXPECT_LT(chi_square, 97.6);
}

}  // namespace
}  // namespace memagent::aggregate
