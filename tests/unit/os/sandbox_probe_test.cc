#include "agent/os/sandbox_probe.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <vector>

#include "agent/os/memory_policy.h"
#include "agent/os/page_nodes.h"
#include "tests/support/seccomp_filter.h"

namespace memagent::os {
namespace {

// Exits with 1 when the probe says that `call` kills, 0 when not, 99 without seccomp.
[[noreturn]] void ProbeBehindFilter(bool (*probe)(), unsigned call, unsigned verdict) {
  const unsigned calls[] = {call};
  if (seccomp_filter::Install(seccomp_filter::ForCalls(calls, verdict, SECCOMP_RET_ALLOW)) != 0) {
    _exit(99);
  }
  _exit(probe() ? 1 : 0);
}

struct Probe {
  bool (*probe)();
  std::vector<unsigned> calls;
};
const Probe kProbes[] = {
    {PerfEventsKill, {SYS_perf_event_open}},
    {PageQuestionsKill, {SYS_move_pages, SYS_get_mempolicy}},
    {PlacementCallsKill, {SYS_mbind, SYS_mincore, SYS_madvise}},
};

void ExpectAnswer(unsigned verdict, int answer) {
  for (const Probe& probe : kProbes) {
    for (const unsigned call : probe.calls) {
      EXPECT_EXIT(ProbeBehindFilter(probe.probe, call, verdict), testing::ExitedWithCode(answer),
                  "")
          << call;
    }
  }
}

TEST(SandboxProbe, WithoutAFilterNothingIsTried) {
  for (const Probe& probe : kProbes) EXPECT_FALSE(probe.probe());
}

TEST(SandboxProbe, FilterThatKillsIsFoundOut) {
  ExpectAnswer(SECCOMP_RET_KILL_PROCESS, 1);
  ExpectAnswer(SECCOMP_RET_TRAP, 1);
}

TEST(SandboxProbe, TrapThatTheProgramHandlesIsDeadlyForUs) {
  const auto probe_with_handler = [] {
    signal(SIGSYS, [](int) {});
    ProbeBehindFilter(PlacementCallsKill, SYS_mbind, SECCOMP_RET_TRAP);
  };
  EXPECT_EXIT(probe_with_handler(), testing::ExitedWithCode(1), "");
}

TEST(SandboxProbe, FilterThatRefusesIsNoDanger) { ExpectAnswer(SECCOMP_RET_ERRNO | 1, 0); }

TEST(SandboxProbe, WithoutAChildOnlyWhatHostThreadsCallCountsAsDeadly) {
  EXPECT_EXIT(ProbeBehindFilter(PlacementCallsKill, SYS_clone, SECCOMP_RET_ERRNO | 11),
              testing::ExitedWithCode(1), "");
  EXPECT_EXIT(ProbeBehindFilter(PerfEventsKill, SYS_clone, SECCOMP_RET_ERRNO | 11),
              testing::ExitedWithCode(0), "");
}

[[noreturn]] void AskAboutAPageWhereItKills() {
  const unsigned calls[] = {SYS_move_pages, SYS_get_mempolicy};
  const auto filter = seccomp_filter::ForCalls(calls, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW);
  if (seccomp_filter::Install(filter) != 0) _exit(99);
  if (PageQuestionsKill()) ForbidPageQuestions();
  const uint64_t page[] = {reinterpret_cast<uint64_t>(&filter)};
  PageAnswer answer[1];
  PageNodes nodes;
  nodes.Lookup(page, answer);
  PolicyReader policies;
  const bool told = policies.OfThisThread().has_value();
  _exit(nodes.rung() > PageNodeRung::kGetMempolicy && !told && policies.refused() != 0 ? 1 : 0);
}

TEST(SandboxProbe, ForbiddenQuestionsAreNotAsked) {
  EXPECT_EXIT(AskAboutAPageWhereItKills(), testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace memagent::os
