// A seccomp filter that the program installs may kill for any system call that the program itself
// never makes (pitfalls P92). So the profile is finished first, the drain thread ends, and from
// then on the hooks only pass through: what has been recorded is kept, the profile says where it
// ends.
//
// Seen here: prctl(PR_SET_SECCOMP) and syscall(SYS_seccomp), which libseccomp uses. A filter
// installed by inline assembly can't be seen.
#include <errno.h>
#include <linux/prctl.h>

#include "agent/capture/fatal_signals.h"
#include "agent/capture/hooks.h"
#include "agent/capture/process_events.h"
#include "agent/capture/sandbox.h"

namespace memagent::capture {
namespace {

// Runs the call that installs a filter without us; records on when it failed.
template <typename Run>
long Sandboxed(Run run) {
  const ProcessEvents* events = Events();
  if (events == nullptr) return run();
  events->ending("seccomp");
  UncoverFatalSignals();
  const bool paused = events->pause();
  SetRecording(false);
  process_events.store(nullptr, std::memory_order_release);  // no system call of ours from here on
  const long result = run();
  if (result >= 0) return result;
  const int error = errno;
  SetRecording(true);
  process_events.store(events, std::memory_order_release);
  if (paused) events->resume();
  events->cover_signals();
  errno = error;
  return result;
}

}  // namespace

long InstallFilter(long number, long a, long b, long c, long d, long e, long f) {
  return Sandboxed([=] { return real.syscall(number, a, b, c, d, e, f); });
}

}  // namespace memagent::capture

using namespace memagent::capture;  // NOLINT: the hooks below are C functions

// Variadic for the compiler only: the kernel's arguments are longs in registers.
MEMAGENT_HOOK int prctl(int option, unsigned long b, unsigned long c, unsigned long d,
                        unsigned long e) {
  if (EarlySymbol(real.prctl, "prctl") == nullptr) return -1;
  if (option != PR_SET_SECCOMP) return real.prctl(option, b, c, d, e);
  return static_cast<int>(Sandboxed([=] { return long{real.prctl(option, b, c, d, e)}; }));
}
