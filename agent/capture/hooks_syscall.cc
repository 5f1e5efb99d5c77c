// syscall(): system calls made past libc's functions. Those that concern the agent are treated as
// the hooks treat the functions; all others pass through. What inline assembly does can't be seen.
#include <errno.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <sys/syscall.h>

#include "agent/capture/hooks.h"
#include "agent/capture/mapping_calls.h"
#include "agent/capture/placement.h"
#include "agent/capture/placement_recorder.h"
#include "agent/capture/process_events.h"
#include "agent/capture/sandbox.h"
#include "agent/capture/stand_aside.h"
#include "agent/os/tsc.h"

namespace memagent::capture {
namespace {

enum class Concern {
  kNone,
  kEnd,
  kExec,
  kNamespace,
  kCredentials,
  kFilter,
  kMapping,
  kAdvice,
  kFork,
  kPlacement
};

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
    case SYS_madvise:
      return Concern::kAdvice;
    case SYS_fork:
      return Concern::kFork;
    case SYS_clone:  // with memory of its own, and no stack to return to elsewhere
      return (first & CLONE_VM) == 0 ? Concern::kFork : Concern::kNone;
    case SYS_seccomp:
      return Concern::kFilter;
    case SYS_prctl:
      return first == PR_SET_SECCOMP ? Concern::kFilter : Concern::kNone;
    default:
      return IsPlacementCall(number) ? Concern::kPlacement : Concern::kNone;
  }
}

// Another library's mmap between ours and libc's (the full tcmalloc's) makes the call this way: it
// must not come back to that function, and was recorded already.
bool RecordsMappings() { return real_ready.load(std::memory_order_acquire) && !MappingIsWrapped(); }

// `call` has arguments a to d; the result is recorded as that of the function would be.
template <typename Call>
long Mapping(Call call, long number, long a, long b, long c, long d, const FrameStart& caller) {
  if (!RecordsMappings()) return call();
  auto* const start = reinterpret_cast<void*>(a);
  const auto size = static_cast<size_t>(b);
  const auto flags = static_cast<int>(d);
  const uint64_t before = os::ReadTsc();
  const long result = call();
  auto* const mapped = reinterpret_cast<void*>(result);  // -1 is MAP_FAILED
  if (number == SYS_mmap) {
    RecordMapped(mapped, size, flags, caller);
  } else if (number == SYS_munmap) {
    RecordUnmapped(result == 0, start, size, before);
  } else {
    RecordRemapped(start, size, mapped, static_cast<size_t>(c), flags, before, caller);
  }
  return result;
}

// Each of these gets and returns the result of the call that was made.
long Advice(long result, long start, long size, long advice) {
  FollowAdvice(result == 0, reinterpret_cast<void*>(start), static_cast<size_t>(size),
               static_cast<int>(advice));
  return result;
}

long Placement(long result, long number, const long (&arguments)[6], const FrameStart& caller) {
  RecordPlacementCall(number, arguments, result, errno, caller);
  if (number == SYS_mbind && result == 0 && IsPlacing()) {
    Overrule(OwnPlacement::kPolicy, static_cast<uint64_t>(arguments[0]),
             static_cast<uint64_t>(arguments[1]));
  }
  return result;
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
      AnnounceEnd("exit_group");
      break;
    case Concern::kExec:
      AnnounceEnd("exec");
      break;
    case Concern::kNamespace:
      return WithoutDrainThread(call);
    case Concern::kCredentials:
      return FollowedCredentials(call());
    case Concern::kFilter:
      return InstallFilter(number, a, b, c, d, e, f);
    case Concern::kMapping:
      return Mapping(call, number, a, b, c, d, MEMAGENT_CALLER());
    case Concern::kFork:
      return FollowedFork(call());
    case Concern::kAdvice:
      return Advice(call(), a, b, c);
    case Concern::kPlacement:
      return Placement(call(), number, {a, b, c, d, e, f}, MEMAGENT_CALLER());
  }
  return call();
}
