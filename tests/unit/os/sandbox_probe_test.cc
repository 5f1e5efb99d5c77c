#include "agent/os/sandbox_probe.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/seccomp_filter.h"

namespace memagent::os {
namespace {

// Exits with 1 when the probe says that perf_event_open kills, 0 when not, 99 without seccomp.
[[noreturn]] void ProbeBehindFilter(unsigned verdict) {
  constexpr unsigned kCall[] = {SYS_perf_event_open};
  if (seccomp_filter::Install(seccomp_filter::ForCalls(kCall, verdict, SECCOMP_RET_ALLOW)) != 0) {
    _exit(99);
  }
  _exit(PerfEventsKill() ? 1 : 0);
}

TEST(SandboxProbe, WithoutAFilterNothingIsTried) { EXPECT_FALSE(PerfEventsKill()); }

TEST(SandboxProbe, FilterThatKillsIsFoundOut) {
  EXPECT_EXIT(ProbeBehindFilter(SECCOMP_RET_KILL_PROCESS), testing::ExitedWithCode(1), "");
  EXPECT_EXIT(ProbeBehindFilter(SECCOMP_RET_TRAP), testing::ExitedWithCode(1), "");
}

TEST(SandboxProbe, FilterThatRefusesIsNoDanger) {
  EXPECT_EXIT(ProbeBehindFilter(SECCOMP_RET_ERRNO | 1), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace memagent::os
