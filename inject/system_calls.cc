#include "inject/system_calls.h"

#include <linux/mempolicy.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace memagent::inject {
namespace {

#ifndef SYS_set_mempolicy_home_node
#define SYS_set_mempolicy_home_node 450  // Linux 5.17, the same number everywhere
#endif

struct Probe {
  const char* name;
  const char* purpose;
  const char* remedy;
  long (*call)();
};

constexpr char kPerfmon[] = "Containers: --cap-add PERFMON, or a seccomp profile that allows it.";
constexpr char kSysNice[] = "Containers: --cap-add SYS_NICE, or a seccomp profile that allows it.";
// Docker's default profile has move_pages and migrate_pages in no rule, whatever the capability.
constexpr char kProfile[] = "Containers: a seccomp profile that allows it; no capability helps.";

// Nothing is asked for, moved or set: no attr, no pages, no bytes, the default policy in a process
// that ends at once.
constexpr Probe kProbes[] = {
    {"perf_event_open", "sampling", kPerfmon,
     [] { return syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0ul); }},
    {"move_pages", "the node of a page", kProfile,
     [] { return syscall(SYS_move_pages, 0, 0ul, nullptr, nullptr, nullptr, 0); }},
    {"get_mempolicy", "the node of a page where move_pages is refused", kSysNice,
     [] { return syscall(SYS_get_mempolicy, nullptr, nullptr, 0ul, nullptr, 0ul); }},
    {"mbind", "placing memory", kSysNice,
     [] { return syscall(SYS_mbind, nullptr, 0ul, MPOL_DEFAULT, nullptr, 0ul, 0); }},
    {"set_mempolicy", "placing memory", kSysNice,
     [] { return syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0ul); }},
    {"set_mempolicy_home_node", "placing memory", kSysNice,
     [] { return syscall(SYS_set_mempolicy_home_node, 0ul, 0ul, 0ul, 0ul); }},
    {"migrate_pages", "moving a program's memory", kProfile,
     [] { return syscall(SYS_migrate_pages, 0, 0ul, nullptr, nullptr); }},
    {"process_vm_readv", "reading the program's memory safely", kProfile,
     [] { return syscall(SYS_process_vm_readv, getpid(), nullptr, 0ul, nullptr, 0ul, 0ul); }},
};

// The errno that the child got, 0 for none, or -1 when it was killed or could not be made.
int ErrnoInChild(const Probe& probe) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_core = {};
    setrlimit(RLIMIT_CORE, &no_core);
    _exit(probe.call() >= 0 ? 0 : errno);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The kernel itself refuses none of these calls for want of a right.
bool IsRefusal(int error) { return error == EPERM || error == EACCES || error == ENOSYS; }

SystemCallFinding Judge(const Probe& probe) {
  const int error = ErrnoInChild(probe);
  SystemCallFinding finding{probe.name, probe.purpose, false, "kills", probe.remedy};
  if (error < 0) return finding;
  if (IsRefusal(error)) {
    finding.verdict = std::string("refused (") + strerrorname_np(error) + ")";
    return finding;
  }
  return {probe.name, probe.purpose, true, "allowed", ""};
}

}  // namespace

std::vector<SystemCallFinding> ProbeSystemCalls() {
  std::vector<SystemCallFinding> findings;
  for (const Probe& probe : kProbes) findings.push_back(Judge(probe));
  return findings;
}

}  // namespace memagent::inject
