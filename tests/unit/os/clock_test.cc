#include "agent/os/clock.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "agent/os/tsc.h"

namespace memagent::os {
namespace {

int64_t Distance(Nanos a, Nanos b) { return static_cast<int64_t>(a - b); }

TEST(TscClock, NeedsTwoPairs) {
  TscClock clock;
  EXPECT_EQ(clock.ToNanos(5), 0u);
  clock.AddPair({1000, 2000, 1});
  EXPECT_EQ(clock.ToNanos(1000), 0u);
  EXPECT_EQ(clock.ErrorBoundNanos(), UINT64_MAX);
}

TEST(TscClock, BetweenPairsIsALine) {
  TscClock clock;
  clock.AddPair({1000, 5000, 1});
  clock.AddPair({3000, 6000, 1});
  clock.AddPair({4000, 7000, 1});  // twice as slow from here on
  EXPECT_EQ(clock.ToNanos(1000), 5000u);
  EXPECT_EQ(clock.ToNanos(2000), 5500u);
  EXPECT_EQ(clock.ToNanos(3500), 6500u);
  EXPECT_EQ(clock.ToTicks(5500), 2000u);
  EXPECT_EQ(clock.ToTicks(6500), 3500u);
}

TEST(TscClock, TimesBeforeTheFirstPairAreExtrapolated) {
  TscClock clock;
  clock.AddPair({10000, 5000, 1});
  clock.AddPair({12000, 6000, 1});
  EXPECT_EQ(clock.ToNanos(8000), 4000u);
  EXPECT_EQ(clock.ToTicks(4000), 8000u);
}

TEST(TscClock, PairThatGoesBackIsIgnored) {
  TscClock clock;
  clock.AddPair({1000, 1000, 1});
  clock.AddPair({2000, 2000, 1});
  clock.AddPair({1500, 3000, 1});
  clock.AddPair({3000, 2000, 1});
  EXPECT_EQ(clock.pair_count(), 2u);
}

TEST(TscClock, InterruptedPairIsIgnoredUntilNothingBetterComes) {
  TscClock clock;
  clock.AddPair({1'000'000, 1'000'000, 100});
  clock.AddPair({2'000'000, 2'000'000, 100});
  clock.AddPair({3'000'000, 3'000'000, 50'000});
  EXPECT_EQ(clock.pair_count(), 2u);
  clock.AddPair({1'003'000'000, 1'003'000'000, 50'000});
  EXPECT_EQ(clock.pair_count(), 3u);
  EXPECT_GE(clock.ErrorBoundNanos(), 50'000u);
}

TEST(TscClock, BoundCoversASlewOfTheKernelsClock) {
  TscClock clock;
  uint64_t ticks = 0;
  Nanos nanos = 0;
  for (int i = 0; i < 100; ++i) {
    ticks += 25'000'000;
    nanos += i < 50 ? 10'000'000 : 10'005'000;  // 500 ppm faster from the middle on
    clock.AddPair({ticks, nanos, 100});
    if (i == 50) {
      EXPECT_GE(clock.ErrorBoundNanos(), 5000u);
    }
  }
  EXPECT_LT(clock.ErrorBoundNanos(), 1000u);
}

TEST(TscClock, RingOfPairsForgetsTheOldest) {
  TscClock clock;
  for (uint64_t i = 1; i <= 1000; ++i) clock.AddPair({i * 2000, i * 1000, 1});
  for (uint64_t ticks = 1; ticks < 2'000'000; ticks += 997) {
    ASSERT_LE(std::abs(Distance(clock.ToNanos(ticks), ticks / 2)), 1);
    ASSERT_LE(std::abs(Distance(clock.ToTicks(ticks / 2), ticks)), 2);
  }
}

TEST(IsTscTrusted, KernelThatRejectedTheTscIsBelieved) {
#if defined(__x86_64__)
  Machine machine;
  machine.cpu.constant_tsc = machine.cpu.nonstop_tsc = true;
  machine.clock_source = "hpet";
  EXPECT_FALSE(IsTscTrusted(machine));
  machine.clock_source = "tsc";
  EXPECT_TRUE(IsTscTrusted(machine));
  machine.cpu.nonstop_tsc = false;
  EXPECT_FALSE(IsTscTrusted(machine));
#else
  GTEST_SKIP() << "the counter of AArch64 is invariant by definition";
#endif
}

// Reference: what libc says, between two TSC reads. The difference beyond the bracket is our error.
TEST(TscClockLive, ConversionStaysWithinItsBound) {
  if (!IsTscTrusted(ReadMachine(ReadCpuInfo()))) GTEST_SKIP() << "this machine's TSC is not invariant";
  TscClock clock;
  clock.Calibrate();
  struct Probe {
    uint64_t before;
    Nanos nanos;
    uint64_t after;
  };
  std::vector<Probe> probes;
  for (int tick = 0; tick < 60; ++tick) {
    for (int i = 0; i < 20; ++i) {
      Probe probe;
      timespec now;
      probe.before = ReadTscOrdered();
      clock_gettime(CLOCK_MONOTONIC, &now);
      probe.after = ReadTscOrdered();
      probe.nanos =
          static_cast<Nanos>(now.tv_sec) * 1'000'000'000 + static_cast<Nanos>(now.tv_nsec);
      probes.push_back(probe);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    clock.Calibrate();
  }
  const auto bound = static_cast<int64_t>(clock.ErrorBoundNanos());
  std::vector<int64_t> errors;
  for (const Probe& probe : probes) {
    const int64_t early = Distance(clock.ToNanos(probe.before), probe.nanos);
    const int64_t late = Distance(probe.nanos, clock.ToNanos(probe.after));
    errors.push_back(std::max({early, late, int64_t{0}}));
  }
  std::sort(errors.begin(), errors.end());
  printf(
      "[ note ] %.4f ns/tick, bound %ld ns, last prediction off by %lu ns; outside the bracket: "
      "median %ld ns, 99%% %ld ns, worst %ld ns of %zu\n",
      clock.NanosPerTick(), static_cast<long>(bound),
      static_cast<unsigned long>(clock.LastPredictionErrorNanos()),
      static_cast<long>(errors[errors.size() / 2]),
      static_cast<long>(errors[errors.size() * 99 / 100]), static_cast<long>(errors.back()),
      errors.size());
  EXPECT_LE(errors.back(), bound);
  EXPECT_LT(bound, 100'000);
}

}  // namespace
}  // namespace memagent::os
