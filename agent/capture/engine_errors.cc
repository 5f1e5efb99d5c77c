#include "agent/capture/engine_errors.h"

#include <errno.h>

#include <span>

namespace memagent::capture {
namespace {

using Condition = bool (*)(const ErrorContext&);

// The first row of a table whose errno and condition fit is the answer: special cases first.
struct Row {
  int error;
  Condition condition;
  EngineError text;
};

bool Always(const ErrorContext&) { return true; }
bool Ibs(const ErrorContext& context) { return context.engine == EngineKind::kIbs; }
bool Pebs(const ErrorContext& context) { return context.engine == EngineKind::kPebs; }
bool Spe(const ErrorContext& context) { return context.engine == EngineKind::kSpe; }

// Debian, Ubuntu and Android add levels above 2 that refuse everybody without CAP_SYS_ADMIN.
bool Locked(const ErrorContext& context) { return context.perf_event_paranoid > 2; }
bool WholeCpu(const ErrorContext& context) { return context.scope == EventScope::kCpu; }
bool AsksKernel(const ErrorContext& context) { return context.asks_kernel; }
bool AsksPhysical(const ErrorContext& context) { return context.asks_physical; }
bool SpePhysical(const ErrorContext& context) { return Spe(context) && context.asks_physical; }

// Per-thread IBS came with Linux 6.2.
bool OldIbs(const ErrorContext& context) {
  return Ibs(context) && context.scope == EventScope::kThread && context.kernel.known() &&
         context.kernel < os::KernelVersion{6, 2};
}
bool PebsGroup(const ErrorContext& context) { return Pebs(context) && context.has_leader; }

constexpr Row kOpenRows[] = {
    {EACCES,
     Locked,
     {"EACCES",
      "kernel.perf_event_paranoid is above 2: this distribution's kernel then lets only "
      "CAP_SYS_ADMIN open events.",
      "Run as root (on Debian CAP_PERFMON is not enough), or: sysctl "
      "kernel.perf_event_paranoid=2"}},
    {EACCES,
     WholeCpu,
     {"EACCES", "Events of whole CPUs need kernel.perf_event_paranoid 0 or CAP_PERFMON.",
      "sysctl kernel.perf_event_paranoid=0, or give the program CAP_PERFMON, or use Linux 6.2 or "
      "later, which samples single threads."}},
    {EACCES,
     SpePhysical,
     {"EACCES",
      "Physical addresses of SPE (pa_enable) need a right, on Linux 6.1 CAP_PERFMON whatever "
      "the sysctl says.",
      "Give the program CAP_PERFMON, or do without: pages are then placed by move_pages."}},
    {EACCES,
     AsksKernel,
     {"EACCES",
      "The event would sample the kernel too, which needs kernel.perf_event_paranoid 1 or "
      "CAP_PERFMON of the initial user namespace.",
      "sysctl kernel.perf_event_paranoid=1, or give the program CAP_PERFMON on the host."}},
    {EACCES,
     AsksPhysical,
     {"EACCES",
      "Physical addresses need kernel.perf_event_paranoid 1 or CAP_PERFMON of the initial user "
      "namespace.",
      "Nothing to do: without them pages are placed by move_pages."}},
    {EACCES,
     Always,
     {"EACCES", "A security module (SELinux, an LSM) refuses perf events.",
      "Allow perf_event in the module's policy, or run outside of its confinement."}},
    {EPERM,
     Always,
     {"EPERM",
      "A seccomp filter, usually a container's, or kernel lockdown forbids perf_event_open.",
      "Start the container with --cap-add PERFMON (or SYS_ADMIN), or with a seccomp profile that "
      "allows perf_event_open."}},
    {ENOSYS,
     Always,
     {"ENOSYS", "The kernel has no perf events, or the sandbox (Podman, gVisor) hides them.",
      "Use a kernel with CONFIG_PERF_EVENTS, or leave the sandbox; Podman: --cap-add SYS_ADMIN."}},
    {ENOENT,
     Ibs,
     {"ENOENT", "The kernel does not know the ibs_op PMU by the number that sysfs shows.",
      "Show the container the host's own /sys; on a virtual machine use bare metal."}},
    {ENOENT,
     Pebs,
     {"ENOENT", "No PMU of this machine takes the memory event: hypervisors hide it.",
      "Pass the PMU through (KVM: Ice Lake or later, -cpu host,pmu=on), or use bare metal."}},
    {ENOENT,
     Spe,
     {"ENOENT", "The SPE PMU is gone, or does not cover the CPU that was asked for.",
      "modprobe arm_spe_pmu, and look into dmesg for its message."}},
    {ENOENT,
     Always,
     {"ENOENT", "The CPU or its hypervisor offers no such event.",
      "On a virtual machine, have the PMU passed through or use bare metal; else "
      "engine=software."}},
    {ENODEV,
     Always,
     {"ENODEV", "The event's PMU is not available on this CPU.",
      "On a virtual machine, have the PMU passed through or use bare metal; else "
      "engine=software."}},
    {ENXIO,
     Always,
     {"ENXIO", "The register that the event's filter needs (the latency threshold) is missing.",
      "Update kernel and microcode, or leave ldlat= out; a hypervisor may hide the register."}},
    {ENODATA,
     Always,
     {"ENODATA",
      "This CPU samples loads only in a group behind mem-loads-aux, which sysfs does not show.",
      "Update the kernel, or show the container the host's own /sys."}},
    {EOPNOTSUPP,
     Pebs,
     {"EOPNOTSUPP", "The CPU can't sample as precisely as asked for, or guests own the host's PMU.",
      "On a virtual machine use bare metal (no PEBS in it); on a host with guests that own the "
      "PMU, stop them."}},
    {EOPNOTSUPP,
     Spe,
     {"EOPNOTSUPP", "The CPU's SPE lacks a filter that the event asks for.",
      "Leave ldlat= out; if that does not help, update the kernel."}},
    {EOPNOTSUPP,
     Always,
     {"EOPNOTSUPP", "The PMU exists but can't sample this event in the way that was asked for.",
      "Use another engine, or stop virtual machines that own this host's PMU."}},
    {EINVAL,
     OldIbs,
     {"EINVAL", "Kernels before Linux 6.2 sample IBS only for whole CPUs, not for one thread.",
      "Use Linux 6.2 or later, or: sysctl kernel.perf_event_paranoid=0"}},
    {EINVAL,
     Ibs,
     {"EINVAL",
      "The kernel's IBS driver does not take a setting: one that is too new, a latency out of "
      "range, or leaving the kernel out.",
      "Leave ldlat= and l3_miss_only= out, use a period that is a multiple of 16, or Linux 6.14 or "
      "later."}},
    {EINVAL,
     PebsGroup,
     {"EINVAL",
      "The group of mem-loads-aux and mem-loads does not fit into the free counters, or a setting "
      "is not known.",
      "Free a counter: sysctl kernel.nmi_watchdog=0, stop other profilers; else use a newer "
      "kernel."}},
    {EINVAL,
     Pebs,
     {"EINVAL", "The kernel does not take a setting of the PEBS event: its period or its latency.",
      "Use a longer period= (128 at least) and an ldlat= from 3 to 65535."}},
    {EINVAL,
     Spe,
     {"EINVAL", "The SPE driver does not take a setting: it samples by period, not by frequency.",
      "Use a multiple of 256 for period=, or a newer kernel."}},
    {EINVAL,
     Always,
     {"EINVAL", "The kernel does not know a setting of the event, or the rate is over its limit.",
      "Use a lower rate= (the limit is kernel.perf_event_max_sample_rate) or a newer kernel."}},
    {E2BIG,
     Always,
     {"E2BIG",
      "The kernel is older than the event's description, or the records would be too long.",
      "Use a newer kernel, or engine=software."}},
    {EBUSY,
     Spe,
     {"EBUSY", "SPE is exclusive, and another session samples this thread or whole CPUs with it.",
      "Stop the other session (perf record -e arm_spe_0//, or another memagent)."}},
    {EBUSY,
     Pebs,
     {"EBUSY", "Another profiler has reserved the counters or the branch records.",
      "Stop it (perf with BTS or LBR, oprofile, a hypervisor); the NMI watchdog takes one counter: "
      "sysctl kernel.nmi_watchdog=0"}},
    {EBUSY,
     Always,
     {"EBUSY", "Another profiler holds the hardware this event needs.",
      "Stop the other profiler (perf, a debugger) or use engine=software."}},
    {EMFILE,
     Always,
     {"EMFILE", "The process has no descriptor left for the event.",
      "Raise the limit of open files: ulimit -n."}},
    {ENFILE,
     Always,
     {"ENFILE", "The system has no descriptor left for the event.", "sysctl fs.file-max=..."}},
    {ENOSPC,
     Always,
     {"ENOSPC", "Every hardware breakpoint register is in use.",
      "Stop the debugger that uses them."}},
    {ESRCH,
     Always,
     {"ESRCH", "The thread ended before its events were open.",
      "Nothing to do: it lived too briefly to be sampled."}},
    {ENOMEM,
     Always,
     {"ENOMEM", "The kernel has no memory for the event.",
      "Free memory, or profile fewer threads."}},
};

constexpr Row kMapRows[] = {
    {EPERM,
     Always,
     {"EPERM", "The rings of this user's perf events are over the locked-memory allowance.",
      "Use a smaller ring_pages=, raise ulimit -l, or: sysctl kernel.perf_event_mlock_kb=..."}},
    {ENOMEM,
     Always,
     {"ENOMEM", "The kernel has no memory for the event's ring.",
      "Use a smaller ring_pages=, or free memory."}},
    {EINVAL,
     Always,
     {"EINVAL", "The size of the ring is not a power of two, or the event can't have a ring.",
      "Set ring_pages= to a power of two."}},
    {EBUSY,
     Always,
     {"EBUSY", "The event's records already go to another ring.",
      "Report this: memagent maps a ring only once."}},
    {EACCES,
     Always,
     {"EACCES", "A security module forbids mapping the event's ring.",
      "Allow perf_event in the module's policy (SELinux: class perf_event)."}},
};

constexpr Row kMapAuxRows[] = {
    {EPERM,
     Always,
     {"EPERM", "The AUX areas of this user's perf events are over the locked-memory allowance.",
      "Profile fewer threads, raise ulimit -l, or: sysctl kernel.perf_event_mlock_kb=..."}},
    {ENOMEM,
     Always,
     {"ENOMEM", "The kernel has no memory for the AUX area.",
      "Free memory, or profile fewer threads."}},
    {EINVAL,
     Always,
     {"EINVAL", "The kernel does not take the AUX area's size or place.",
      "Report this with the output of memagent check: the kernel has changed its rules."}},
    {EBUSY,
     Always,
     {"EBUSY", "The AUX area of another event is in the way.",
      "Stop the other SPE session of this thread."}},
    {EOPNOTSUPP,
     Always,
     {"EOPNOTSUPP", "The PMU has no AUX area.", "Use another engine, or a newer kernel."}},
    {EACCES,
     Always,
     {"EACCES", "A security module forbids mapping the AUX area.",
      "Allow perf_event in the module's policy (SELinux: class perf_event)."}},
};

constexpr Row kRedirectRows[] = {
    {EINVAL,
     Always,
     {"EINVAL", "The events can't share a ring: their clocks, threads, CPUs or PMUs differ.",
      "Report this with the output of memagent check."}},
    {EBADF,
     Always,
     {"EBADF", "The program closed a descriptor of memagent's.",
      "Report this: memagent's descriptors are in a table of their own."}},
};

constexpr Row kControlRows[] = {
    {EPERM,
     Always,
     {"EPERM", "A seccomp filter forbids ioctl on perf events.",
      "Allow ioctl in the container's seccomp profile."}},
    {EACCES,
     Always,
     {"EACCES", "A security module forbids ioctl on perf events.",
      "Allow perf_event in the module's policy (SELinux: class perf_event)."}},
    {ENOSYS,
     Always,
     {"ENOSYS", "The sandbox has no ioctl for perf events.", "Run outside of the sandbox."}},
    {EINVAL,
     Always,
     {"EINVAL", "The kernel does not know how to start the event or to tell its id.",
      "Use Linux 3.12 or later (PERF_EVENT_IOC_ID)."}},
    {ENOTTY,
     Always,
     {"ENOTTY", "The event's descriptor takes no ioctl: the sandbox only pretends to have it.",
      "Run outside of the sandbox."}},
};

// Why an event that opens stays silent (facts: perf_abi 2.2, 3.2, 4.2, 8.1).
constexpr Row kRunRows[] = {
    {0,
     Ibs,
     {"silent",
      "The events opened, but never ran: another session uses IBS, one at a time on a CPU.",
      "Stop other profilers on this machine (perf record, another memagent)."}},
    {0,
     Pebs,
     {"silent",
      "The events opened, but never ran: too few counters are free, or another session uses "
      "another ldlat on the same core.",
      "sysctl kernel.nmi_watchdog=0, and stop other profilers on this machine."}},
    {0,
     Always,
     {"silent", "The events opened, but the kernel never ran them.",
      "Stop other profilers on this machine; on a virtual machine use bare metal."}},
};

constexpr Row kSampleRows[] = {
    {0,
     Always,
     {"silent", "The events ran, but no sample came of them: the hardware only counts.",
      "On a virtual machine use bare metal, or engine=software."}},
};

constexpr EngineError kUnknown = {"unknown errno",
                                  "The kernel refused for a reason not in our table.",
                                  "Report it with the output of memagent check."};

std::span<const Row> RowsOf(EngineStep step) {
  switch (step) {
    case EngineStep::kOpen:
      return kOpenRows;
    case EngineStep::kMap:
      return kMapRows;
    case EngineStep::kMapAux:
      return kMapAuxRows;
    case EngineStep::kRedirect:
      return kRedirectRows;
    case EngineStep::kControl:
      return kControlRows;
    case EngineStep::kRun:
      return kRunRows;
    case EngineStep::kSample:
      return kSampleRows;
  }
  return {};
}

}  // namespace

// SPE's field of physical addresses is bit 1 of config (facts: perf_abi 4.1).
ErrorContext ContextOf(const EngineFacts& facts, EngineKind engine, const EventAttempt& attempt) {
  ErrorContext context;
  context.engine = engine;
  context.perf_event_paranoid = facts.kernel.perf_event_paranoid;
  context.kernel = facts.kernel.version;
  context.scope = attempt.scope;
  context.asks_kernel = attempt.attr.exclude_kernel == 0;
  context.asks_physical = engine == EngineKind::kSpe
                              ? (attempt.attr.config & 2) != 0
                              : (attempt.attr.sample_type & PERF_SAMPLE_PHYS_ADDR) != 0;
  context.has_leader = attempt.has_leader;
  return context;
}

EngineError ExplainEngineError(EngineStep step, int error, const ErrorContext& context) {
  for (const Row& row : RowsOf(step)) {
    if (row.error == error && row.condition(context)) return row.text;
  }
  return kUnknown;
}

EngineError ExplainEngineError(EngineStep step, int error, int perf_event_paranoid) {
  ErrorContext context;
  context.perf_event_paranoid = perf_event_paranoid;
  return ExplainEngineError(step, error, context);
}

}  // namespace memagent::capture
