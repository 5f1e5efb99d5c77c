// Ends of the process that run no exit handlers: the profile is brought up to date first (pitfalls
// P34). exit(), quick_exit() and a return from main reach the agent's own (runtime/entry.cc); but
// while one thread is in there, glibc before 2.41 lets another's exit() end the process at once.
#include <unistd.h>

#include "agent/base/syscall.h"
#include "agent/capture/hooks.h"
#include "agent/capture/process_events.h"

namespace memagent::capture {

constinit std::atomic<const ProcessEvents*> process_events{nullptr};

namespace {

constinit std::atomic<int> exits{0};

// Whether another thread may be on its way out too.
bool MayCutShort() {
  int threads = 0;
  ledger::ForEachThread([&threads](const ledger::ThreadRecord*) { ++threads; });
  return exits.fetch_add(1, std::memory_order_acq_rel) > 0 || threads > 1;
}

[[noreturn]] void ExitNow(int status) {
  if (RealReady() && real._exit != nullptr) real._exit(status);
  while (true) base::Syscall(SYS_exit_group, status);
}

}  // namespace
}  // namespace memagent::capture

using namespace memagent::capture;  // NOLINT: the hooks below are C functions

MEMAGENT_HOOK [[gnu::noreturn]] void exit(int status) {
  if (MayCutShort()) AnnounceEnd("exit");
  if (RealReady() && real.exit != nullptr) real.exit(status);
  ExitNow(status);
}

MEMAGENT_HOOK [[gnu::noreturn]] void _exit(int status) {
  AnnounceEnd("_exit");
  ExitNow(status);
}

MEMAGENT_HOOK [[gnu::noreturn]] void _Exit(int status) {
  AnnounceEnd("_exit");
  ExitNow(status);
}

MEMAGENT_HOOK [[gnu::noreturn]] void abort() {
  AnnounceEnd("abort");
  if (RealReady() && real.abort != nullptr) real.abort();
  __builtin_trap();
}
