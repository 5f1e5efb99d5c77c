#include "inject/system_calls.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <string>

#include "tests/support/seccomp_filter.h"

namespace memagent::inject {
namespace {

std::string VerdictOn(const std::string& name) {
  for (const SystemCallFinding& call : ProbeSystemCalls()) {
    if (call.name == name) return call.verdict;
  }
  return "not tried";
}

// What a child under a filter for move_pages finds; 99: this kernel takes no filter.
int UnderFilter(unsigned verdict, const std::string& expected) {
  const pid_t child = fork();
  if (child == 0) {
    const unsigned calls[] = {SYS_move_pages};
    if (seccomp_filter::Install(seccomp_filter::ForCalls(calls, verdict, SECCOMP_RET_ALLOW)) != 0) {
      _exit(99);
    }
    _exit(VerdictOn("move_pages") == expected && VerdictOn("migrate_pages") != expected ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(SystemCalls, FilterThatRefusesIsSeen) {
  const int status = UnderFilter(SECCOMP_RET_ERRNO | EPERM, "refused (EPERM)");
  if (status == 99) GTEST_SKIP() << "this kernel takes no seccomp filter";
  EXPECT_EQ(status, 0);
}

TEST(SystemCalls, FilterThatKillsIsSeenAndSurvived) {
  const int status = UnderFilter(SECCOMP_RET_KILL_PROCESS, "kills");
  if (status == 99) GTEST_SKIP() << "this kernel takes no seccomp filter";
  EXPECT_EQ(status, 0);
}

TEST(SystemCalls, WhatIsRefusedHasARemedyAndWhatIsAllowedNone) {
  for (const SystemCallFinding& call : ProbeSystemCalls()) {
    EXPECT_EQ(call.allowed, call.remedy.empty()) << call.name;
    EXPECT_EQ(call.allowed, call.verdict == "allowed") << call.name;
    EXPECT_NE(call.purpose, "") << call.name;
  }
}

}  // namespace
}  // namespace memagent::inject
