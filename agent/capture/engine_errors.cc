#include "agent/capture/engine_errors.h"

#include <errno.h>

namespace memagent::capture {
namespace {

struct Row {
  int error;
  EngineError text;
};

constexpr Row kOpenRows[] = {
    {EPERM,
     {"EPERM",
      "A seccomp filter, usually a container's, or kernel lockdown forbids perf_event_open.",
      "Start the container with --cap-add PERFMON (or SYS_ADMIN), or with a seccomp profile that "
      "allows perf_event_open."}},
    {ENOSYS,
     {"ENOSYS", "The kernel has no perf events, or the sandbox hides them.",
      "Use a kernel with CONFIG_PERF_EVENTS, or leave the sandbox."}},
    {ENOENT,
     {"ENOENT", "The CPU or its hypervisor offers no such event.",
      "On a virtual machine, have the PMU passed through or use bare metal; else "
      "engine=software."}},
    {ENODEV,
     {"ENODEV", "The event's PMU is not available on this CPU.",
      "On a virtual machine, have the PMU passed through or use bare metal; else "
      "engine=software."}},
    {ENXIO,
     {"ENXIO", "The event's PMU is not available on this CPU.",
      "On a virtual machine, have the PMU passed through or use bare metal; else "
      "engine=software."}},
    {EOPNOTSUPP,
     {"EOPNOTSUPP", "The PMU exists but can't sample this event in the way that was asked for.",
      "Use another engine, or stop virtual machines that own this host's PMU."}},
    {EINVAL,
     {"EINVAL", "The kernel does not know a setting of the event, or the rate is over its limit.",
      "Use a lower rate= (the limit is kernel.perf_event_max_sample_rate) or a newer kernel."}},
    {E2BIG,
     {"E2BIG",
      "The kernel is older than the event's description, or the records would be too long.",
      "Use a newer kernel, or engine=software."}},
    {EBUSY,
     {"EBUSY", "Another profiler holds the hardware this event needs.",
      "Stop the other profiler (perf, a debugger, the NMI watchdog) or use engine=software."}},
    {EMFILE,
     {"EMFILE", "The process has no descriptor left for the event.",
      "Raise the limit of open files: ulimit -n."}},
    {ENFILE,
     {"ENFILE", "The system has no descriptor left for the event.", "sysctl fs.file-max=..."}},
    {ENOSPC,
     {"ENOSPC", "Every hardware breakpoint register is in use.",
      "Stop the debugger that uses them."}},
    {ESRCH,
     {"ESRCH", "The thread ended before its events were open.",
      "Nothing to do: it lived too briefly to be sampled."}},
    {ENOMEM,
     {"ENOMEM", "The kernel has no memory for the event.",
      "Free memory, or profile fewer threads."}},
};

constexpr Row kMapRows[] = {
    {EPERM,
     {"EPERM", "The rings of this user's perf events are over the locked-memory allowance.",
      "Use a smaller ring_pages=, raise ulimit -l, or: sysctl kernel.perf_event_mlock_kb=..."}},
    {ENOMEM,
     {"ENOMEM", "The kernel has no memory for the event's ring.",
      "Use a smaller ring_pages=, or free memory."}},
    {EINVAL,
     {"EINVAL", "The size of the ring is not a power of two, or the event can't have a ring.",
      "Set ring_pages= to a power of two."}},
    {EBUSY,
     {"EBUSY", "The event's records already go to another ring.",
      "Report this: memagent maps a ring only once."}},
    {EACCES,
     {"EACCES", "A security module forbids mapping the event's ring.",
      "Allow perf_event in the module's policy (SELinux: class perf_event)."}},
};

// Debian, Ubuntu and Android add levels above 2 that refuse everybody without CAP_SYS_ADMIN.
constexpr EngineError kDistributionLock = {
    "EACCES",
    "kernel.perf_event_paranoid is above 2: this distribution's kernel then lets only "
    "CAP_SYS_ADMIN open events.",
    "Run as root, or: sysctl kernel.perf_event_paranoid=2"};
// At 2 and below our events, which leave the kernel out, need no right: something else refused.
constexpr EngineError kSecurityModule = {
    "EACCES",
    "A security module refuses perf events, or the event asks for kernel data or physical "
    "addresses.",
    "Allow perf_event in the module's policy, or: sysctl kernel.perf_event_paranoid=1"};

constexpr EngineError kUnknown = {"unknown errno",
                                  "The kernel refused for a reason not in our table.",
                                  "Report it with the output of memagent check."};

template <size_t n>
EngineError Find(const Row (&rows)[n], int error) {
  for (const Row& row : rows) {
    if (row.error == error) return row.text;
  }
  return kUnknown;
}

}  // namespace

EngineError ExplainEngineError(EngineStep step, int error, int perf_event_paranoid) {
  if (step == EngineStep::kMap) return Find(kMapRows, error);
  if (error == EACCES && perf_event_paranoid > 2) return kDistributionLock;
  if (error == EACCES) return kSecurityModule;
  return Find(kOpenRows, error);
}

}  // namespace memagent::capture
