#include "agent/capture/sampling_period.h"

#include <gtest/gtest.h>

namespace memagent::capture {
namespace {

constexpr PeriodRule kRule = {"ops", 4'000'000'000, 16, true, 16, 160, "changed"};

EnginePlan Choose(const EventRequest& request, const PeriodRule& rule = kRule,
                  uint32_t max_sample_rate = 100'000) {
  os::KernelSettings kernel;
  kernel.max_sample_rate = max_sample_rate;
  EnginePlan plan;
  ChooseHardwarePeriod(kernel, request, rule, plan);
  return plan;
}

TEST(HardwarePeriod, RateCountsAccessesOfABusyCore) {
  EventRequest request;
  EXPECT_EQ(Choose(request).period, 640'000u) << "6250 interrupts a second, 16 % of them accesses";
  EXPECT_TRUE(Choose(request).rate_change.empty());
  EXPECT_EQ(Choose(request).period_unit, "ops");
  EXPECT_EQ(Choose(request).period_step, 16u);
  EXPECT_EQ(Choose(request).shortest_period, 160u);
}

TEST(HardwarePeriod, RateStaysAtHalfOfTheKernelsLimit) {
  EventRequest request;
  request.rate_hz = 10'000;
  EXPECT_EQ(Choose(request).period, 80'000u) << "50000 interrupts a second";
  EXPECT_FALSE(Choose(request).rate_change.empty());
  EXPECT_EQ(Choose(request, kRule, 0).period, 64'000u);
  PeriodRule silent = kRule;
  silent.interrupts = false;
  EXPECT_EQ(Choose(request, silent).period, 64'000u) << "hardware writes them without interrupts";
}

TEST(HardwarePeriod, PeriodThatWasAskedForIsKeptBelowTheLimitToo) {
  EventRequest request;
  request.period = 1600;
  EXPECT_EQ(Choose(request).period, 1600u);
  EXPECT_TRUE(Choose(request).rate_change.empty());
}

TEST(HardwarePeriod, WhatTheEngineCanNotDoIsChangedWithItsReason) {
  EventRequest request;
  request.period = 1601;
  EXPECT_EQ(Choose(request).period, 1600u);
  EXPECT_EQ(Choose(request).rate_change, "changed");
  request.period = 1;
  EXPECT_EQ(Choose(request).period, 160u);
  request.period = UINT64_MAX;
  EXPECT_EQ(Choose(request).period, kLongestHardwarePeriod);
  EXPECT_EQ(Choose(request).rate_change, "changed");
}

TEST(HardwarePeriod, RateOfNothingIsOneASecond) {
  EventRequest request;
  request.rate_hz = 0;
  EXPECT_EQ(Choose(request).period, 640'000'000u);
  request.rate_hz = UINT64_MAX;
  EXPECT_EQ(Choose(request, kRule, 0).period, 160u);
}

}  // namespace
}  // namespace memagent::capture
