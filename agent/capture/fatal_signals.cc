#include "agent/capture/fatal_signals.h"

#include <errno.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/base/syscall.h"
#include "agent/capture/process_events.h"
#include "agent/capture/real_symbols.h"

namespace memagent::capture {
namespace {

struct Fatal {
  int number;
  const char* name;  // the footer's word
};

// Every signal that ends a process by default (signal(7)), except SIGKILL, SIGSYS (sandboxes own
// it) and the real-time ones.
constexpr Fatal kFatal[] = {
    {SIGHUP, "SIGHUP"},       {SIGINT, "SIGINT"},       {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"},     {SIGABRT, "abort"},       {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGUSR1, "SIGUSR1"},     {SIGSEGV, "SIGSEGV"},     {SIGUSR2, "SIGUSR2"}, {SIGPIPE, "SIGPIPE"},
    {SIGALRM, "SIGALRM"},     {SIGTERM, "SIGTERM"},     {SIGIO, "SIGIO"},     {SIGXCPU, "SIGXCPU"},
    {SIGXFSZ, "SIGXFSZ"},     {SIGVTALRM, "SIGVTALRM"}, {SIGPROF, "SIGPROF"}, {SIGPWR, "SIGPWR"},
    {SIGSTKFLT, "SIGSTKFLT"},
};
constexpr size_t kFatalCount = sizeof(kFatal) / sizeof(kFatal[0]);

// The host's disposition behind each cover. Written before the cover is visible to a query.
constinit struct sigaction set_by_host[kFatalCount] = {};
constinit std::atomic<int> covered_pid{0};  // 0: nothing is covered

size_t IndexOf(int number) {
  size_t i = 0;
  while (i < kFatalCount && kFatal[i].number != number) ++i;
  return i;
}

int Pid() { return static_cast<int>(base::Syscall(SYS_getpid)); }

// A fault repeats itself when the handler returns to the instruction that made it.
bool RepeatsItself(const siginfo_t* info) {
  const int number = info->si_signo;
  const bool fault = number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
  return fault && info->si_code > 0;
}

// Calling thread: any, at any instruction of the program. Needs less than 1 KiB of stack: the drain
// thread does the work.
void HandleFatal(int number, siginfo_t* info, void*) {
  const size_t i = IndexOf(number);
  const ProcessEvents* events = Events();
  if (events != nullptr) events->dying(kFatal[i].name);
  real.sigaction(number, &set_by_host[i], nullptr);
  if (RepeatsItself(info)) return;
  // Blocked until the handler has returned; strikes then.
  base::Syscall(SYS_rt_tgsigqueueinfo, Pid(), base::Syscall(SYS_gettid), number, info);
}

bool IsOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == HandleFatal;
}

// The host's own disposition is noted by the call that replaces it, so that a query can be answered
// just as the kernel would have.
void Cover(size_t i) {
  struct sigaction ours = {};
  ours.sa_sigaction = HandleFatal;
  // The alternate stack only where the normal one may be what overflowed: one of 2 KiB, too small
  // for the kernel's frame, would turn any other signal into SIGSEGV.
  ours.sa_flags = SA_SIGINFO | (kFatal[i].number == SIGSEGV ? SA_ONSTACK : 0);
  struct sigaction before = {};
  if (real.sigaction(kFatal[i].number, nullptr, &before) != 0) return;
  if (IsOurs(before) || before.sa_handler != SIG_DFL) return;
  set_by_host[i] = before;
  real.sigaction(kFatal[i].number, &ours, nullptr);
}

}  // namespace

void CoverFatalSignals(int pid) {
  if (real.sigaction == nullptr) return;
  if (pid == 1) return UncoverFatalSignals();  // a fork child has its parent's handlers
  covered_pid.store(pid, std::memory_order_release);
  for (size_t i = 0; i < kFatalCount; ++i) Cover(i);
}

void UncoverFatalSignals() {
  if (covered_pid.exchange(0, std::memory_order_acq_rel) == 0) return;
  for (size_t i = 0; i < kFatalCount; ++i) {
    struct sigaction now = {};
    if (real.sigaction(kFatal[i].number, nullptr, &now) != 0 || !IsOurs(now)) continue;
    real.sigaction(kFatal[i].number, &set_by_host[i], nullptr);
  }
}

void ShowAsSetByHost(int number, struct sigaction& action) {
  if (IsOurs(action)) action = set_by_host[IndexOf(number)];
}

SignalHandler AsSetByHost(SignalHandler handler) {
  return reinterpret_cast<uintptr_t>(handler) == reinterpret_cast<uintptr_t>(&HandleFatal)
             ? SIG_DFL
             : handler;
}

void CoverAgain(int number) {
  const int pid = covered_pid.load(std::memory_order_acquire);
  const size_t i = IndexOf(number);
  if (pid == 0 || i == kFatalCount || pid != Pid()) return;
  const int error = errno;
  Cover(i);
  errno = error;
}

}  // namespace memagent::capture
