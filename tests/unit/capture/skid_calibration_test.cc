#include "agent/capture/skid_calibration.h"

#include <dirent.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "agent/os/clock.h"

namespace memagent::capture {
namespace {

size_t OpenDescriptors() {
  size_t count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

TEST(SkidCalibration, FewTicksNeverHold) {
  EXPECT_FALSE(SkidCalibration().holds());
  EXPECT_FALSE((SkidCalibration{0, 5, 5, 0, 0}).holds());
  EXPECT_FALSE((SkidCalibration{50, 150, 200, 0, 0}).holds());
  EXPECT_TRUE((SkidCalibration{1, 199, 200, 0, 0}).holds());
}

TEST(SkidCalibration, OneTickCostsTheDifferenceOfTheMedians) {
  std::vector<uint64_t> without(40, 1000);
  std::vector<uint64_t> with_one(20, 4000);
  for (size_t i = 0; i < 9; ++i) without[i] = with_one[i] = 1'000'000;  // interrupted
  EXPECT_EQ(ExtraTicks(without, with_one), 3000u);
  EXPECT_EQ(ExtraTicks(with_one, without), 0u);
  EXPECT_EQ(ExtraTicks(std::span(without).first(15), with_one), 0u);
  EXPECT_EQ(ExtraTicks({}, {}), 0u);
}

// With the registers, as the software engine samples.
TEST(SkidCalibrationLive, OneTickTakesMicroseconds) {
  perf_event_attr access = {};
  access.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                       PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER;
  access.sample_regs_user = 0xff0fff;
  const SkidCalibration skid = CalibrateSkid(&access);
  if (skid.error != 0) GTEST_SKIP() << "not measured here: " << strerror(skid.error);
  printf("[ note ] one tick takes %.0f ns; %u ticks\n", skid.tick_nanos, skid.ticks_total);
  if (skid.ticks_total < 100) GTEST_SKIP() << "too few ticks on a busy machine";
  EXPECT_GT(skid.ticks_on_next + skid.ticks_on_access, 0u);
  EXPECT_GE(skid.tick_nanos, 0);
  EXPECT_LT(skid.tick_nanos, 1e6);
}

TEST(SkidCalibrationLive, TicksFallOnOneInstructionInTime) {
  const size_t descriptors = OpenDescriptors();
  const Nanos start = os::MonotonicNanos();
  const SkidCalibration skid = CalibrateSkid();
  const Nanos took = os::MonotonicNanos() - start;
  if (skid.error != 0) GTEST_SKIP() << "not measured here: " << strerror(skid.error);
  printf("[ note ] %u of %u ticks on the next instruction, %u on the access, %.1f ms\n",
         skid.ticks_on_next, skid.ticks_total, skid.ticks_on_access,
         static_cast<double>(took) / 1e6);
  EXPECT_EQ(OpenDescriptors(), descriptors);
  EXPECT_LE(skid.ticks_on_next + skid.ticks_on_access, skid.ticks_total);
  EXPECT_GT(skid.ticks_total, 0u);
  EXPECT_LT(took, 200'000'000u) << "20 ms of its own and what other processes take";
}

}  // namespace
}  // namespace memagent::capture
