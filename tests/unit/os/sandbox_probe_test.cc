#include "agent/os/sandbox_probe.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <iterator>

namespace memagent::os {
namespace {

// Exits with 1 when the probe says that perf_event_open kills, 0 when not, 99 without seccomp.
[[noreturn]] void ProbeBehindFilter(unsigned verdict) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, verdict),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {std::size(filter), filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
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
