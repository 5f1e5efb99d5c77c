#include "agent/capture/skid_calibration.h"

#include <dirent.h>
#include <gtest/gtest.h>

#include <cstring>

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
  EXPECT_FALSE((SkidCalibration{0, 5, 5, 0}).holds());
  EXPECT_FALSE((SkidCalibration{50, 150, 200, 0}).holds());
  EXPECT_TRUE((SkidCalibration{1, 199, 200, 0}).holds());
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
