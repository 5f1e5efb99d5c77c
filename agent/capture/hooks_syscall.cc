// syscall(): system calls made past libc's functions. Those that concern the agent are treated as
// the hooks treat the functions; all others pass through. What inline assembly does can't be seen.
#include <linux/prctl.h>
#include <sys/syscall.h>

#include "agent/capture/hooks.h"
#include "agent/capture/mapping_calls.h"
#include "agent/capture/process_events.h"
#include "agent/capture/sandbox.h"
#include "agent/capture/stand_aside.h"

namespace memagent::capture {
namespace {

enum class Concern { kNone, kEnd, kExec, kNamespace, kCredentials, kFilter, kMapping };

Concern ConcernOf(long number, long first) {
  switch (number) {
    case SYS_exit_group:
      return Concern::kEnd;
    case SYS_execve:
    case SYS_execveat:
      return Concern::kExec;
    case SYS_unshare:
    case SYS_setns:
      return Concern::kNamespace;
    case SYS_setuid:
    case SYS_setgid:
    case SYS_setreuid:
    case SYS_setregid:
    case SYS_setresuid:
    case SYS_setresgid:
    case SYS_setgroups:
    case SYS_capset:
      return Concern::kCredentials;
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mremap:
      return Concern::kMapping;
    case SYS_seccomp:
      return Concern::kFilter;
    case SYS_prctl:
      return first == PR_SET_SECCOMP ? Concern::kFilter : Concern::kNone;
    default:
      return Concern::kNone;
  }
}

void Announce(void (*ProcessEvents::*what)(const char*), const char* how) {
  const ProcessEvents* events = process_events.load(std::memory_order_acquire);
  if (events != nullptr) (events->*what)(how);
}

long FollowedCredentials(long result) {
  const ProcessEvents* events = process_events.load(std::memory_order_acquire);
  if (result == 0 && events != nullptr) events->credentials_changed();
  return result;
}

long Mapping(long number, long a, long b, long c, long d, long e, long f,
             const FrameStart& caller) {
  auto* const start = reinterpret_cast<void*>(a);
  const auto size = static_cast<size_t>(b);
  const auto flags = static_cast<int>(d);
  if (number == SYS_munmap) return Unmap(start, size);
  void* result =
      number == SYS_mmap
          ? Map(start, size, static_cast<int>(c), flags, static_cast<int>(e), f, caller)
          : Remap(start, size, static_cast<size_t>(c), flags, reinterpret_cast<void*>(e), caller);
  return reinterpret_cast<long>(result);
}

}  // namespace
}  // namespace memagent::capture

using namespace memagent::capture;  // NOLINT: the hook below is a C function

// Allocators that initialise come here (jemalloc), so only this one function is looked up.
// Variadic for the compiler only: the kernel's arguments are longs in registers.
MEMAGENT_HOOK long hook_syscall(long number, long a, long b, long c, long d, long e,
                                long f) asm("syscall");
long hook_syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (EarlySymbol(real.syscall, "syscall") == nullptr) return -1;
  const auto call = [=] { return real.syscall(number, a, b, c, d, e, f); };
  switch (ConcernOf(number, a)) {
    case Concern::kNone:
      break;
    case Concern::kEnd:
      Announce(&ProcessEvents::ending, "exit_group");
      break;
    case Concern::kExec:
      Announce(&ProcessEvents::ending, "exec");
      break;
    case Concern::kNamespace:
      return WithoutDrainThread(call);
    case Concern::kCredentials:
      return FollowedCredentials(call());
    case Concern::kFilter:
      return InstallFilter(number, a, b, c, d, e, f);
    case Concern::kMapping:
      return Mapping(number, a, b, c, d, e, f, MEMAGENT_CALLER());
  }
  return call();
}
