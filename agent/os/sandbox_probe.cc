#include "agent/os/sandbox_probe.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdint>

#include "agent/base/syscall.h"

namespace memagent::os {
namespace {

using base::Syscall;

enum class Fate { kLives, kKilled, kNotTried };

constinit std::atomic<bool> page_questions_forbidden{false};

// A killed child must leave no file in the program's folder. With SIGSYS blocked a filter that
// traps kills, too.
[[noreturn]] void TryAndExit(void (*calls)()) {
  const struct rlimit no_core = {};
  const uint64_t all_signals = ~uint64_t{0};
  Syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all_signals, nullptr, sizeof(all_signals));
  Syscall(SYS_prlimit64, 0, RLIMIT_CORE, &no_core, nullptr);
  calls();
  while (true) Syscall(SYS_exit_group, 0);
}

Fate FateOf(void (*calls)()) {
  if (Syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER) return Fate::kLives;
  const long child = Syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) TryAndExit(calls);
  if (child < 0) return Fate::kNotTried;
  int status = 0;
  while (Syscall(SYS_wait4, child, &status, __WALL, nullptr) == -EINTR) {
  }
  return WIFSIGNALED(status) ? Fate::kKilled : Fate::kLives;
}

// The calls change nothing where the filter lets them pass: they are about no event and no page.
void OpenPerfEvent() { Syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0); }

void AskAboutPages() {
  Syscall(SYS_move_pages, 0, 0, nullptr, nullptr, nullptr, 0);
  Syscall(SYS_get_mempolicy, nullptr, nullptr, 0, 0, 0);
}

void PlaceNothing() {
  Syscall(SYS_mincore, 0, 0, nullptr);
  Syscall(SYS_mbind, 0, 0, MPOL_DEFAULT, nullptr, 0, MPOL_MF_MOVE);
  Syscall(SYS_madvise, 0, 0, MADV_HUGEPAGE);
}

}  // namespace

bool PerfEventsKill() { return FateOf(OpenPerfEvent) == Fate::kKilled; }

bool PageQuestionsKill() { return FateOf(AskAboutPages) == Fate::kKilled; }

void ForbidPageQuestions() { page_questions_forbidden.store(true, std::memory_order_relaxed); }

bool PageQuestionsForbidden() { return page_questions_forbidden.load(std::memory_order_relaxed); }

bool PlacementCallsKill() { return FateOf(PlaceNothing) != Fate::kLives; }

}  // namespace memagent::os
