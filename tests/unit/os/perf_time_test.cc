#include "agent/os/perf_time.h"

#include <gtest/gtest.h>

namespace memagent::os {
namespace {

// A generic timer of 25 MHz: 40 ns each tick, as arm64 kernels publish it.
constexpr PerfTime k25MHz = {.zero = 1000, .mult = 40u << 20, .shift = 20};

perf_event_mmap_page Page() {
  perf_event_mmap_page page = {};
  page.cap_user_time_zero = 1;
  page.time_zero = 7;
  page.time_mult = 3;
  page.time_shift = 1;
  return page;
}

TEST(PerfTime, TicksBecomeNanoseconds) {
  EXPECT_EQ(k25MHz.ToNanos(0), 1000u);
  EXPECT_EQ(k25MHz.ToNanos(1), 1040u);
  EXPECT_EQ(k25MHz.ToNanos(25'000'000), 1'000'001'000u);
}

TEST(PerfTime, YearsOfTicksDoNotOverflow) {
  const uint64_t ten_years = 25'000'000ull * 86'400 * 3'650;
  EXPECT_EQ(k25MHz.ToNanos(ten_years), ten_years * 40 + 1000);
  const PerfTime gigahertz = {.mult = 1u << 31, .shift = 31};  // 1 ns each tick
  EXPECT_EQ(gigahertz.ToNanos(0x7fff'ffff'ffff'ffff), 0x7fff'ffff'ffff'ffffu);
}

TEST(PerfTime, LargestShiftAndMultiplierKeepEveryBit) {
  const PerfTime time = {.mult = UINT32_MAX, .shift = PerfTime::kMaxShift};
  EXPECT_EQ(time.ToNanos(UINT32_MAX), 0xffff'fffeu);
}

TEST(PerfTime, ShortCounterGoesOnFromItsEpoch) {
  // 56 bits of counter, which have wrapped once since the epoch.
  constexpr uint64_t kMask = (uint64_t{1} << 56) - 1;
  const PerfTime time = {.mult = 2, .shift = 0, .cycles = kMask - 9, .mask = kMask};
  EXPECT_EQ(time.ToNanos(kMask), 2 * kMask);
  EXPECT_EQ(time.ToNanos(5), 2 * (kMask + 6));
}

TEST(PerfTime, NumbersComeFromTheControlPage) {
  perf_event_mmap_page page = Page();
  page.time_cycles = 1000;  // of no meaning without cap_user_time_short
  auto time = ReadPerfTime(&page);
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->ToNanos(4), 7u + 6u);
  page.cap_user_time_short = 1;
  page.time_mask = 0xff;
  time = ReadPerfTime(&page);
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->cycles, 1000u);
  EXPECT_EQ(time->mask, 0xffu);
}

TEST(PerfTime, PageThatTellsNothingIsRefused) {
  perf_event_mmap_page page = Page();
  page.cap_user_time_zero = 0;
  EXPECT_FALSE(ReadPerfTime(&page));
  page = Page();
  page.time_mult = 0;
  EXPECT_FALSE(ReadPerfTime(&page));
  page = Page();
  page.time_shift = 33;
  EXPECT_FALSE(ReadPerfTime(&page));
  page = Page();
  page.lock = 1;  // being written, for ever
  EXPECT_FALSE(ReadPerfTime(&page));
}

}  // namespace
}  // namespace memagent::os
