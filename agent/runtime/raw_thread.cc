#include "agent/runtime/raw_thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <time.h>

#include <cstring>

#include "agent/base/arena.h"
#include "agent/base/syscall.h"
#include "agent/ledger/thread_state.h"

namespace memagent::runtime {
namespace {

// The drain thread's frames are small; the record parser keeps 4 KiB on the stack.
constexpr size_t kStackBytes = size_t{256} << 10;
// Static TLS of the program and its libraries lies below the thread pointer: the program's own
// block, which may be megabytes, is nearest, then ours. Only ours is ever touched; this much lies
// below it.
constexpr size_t kTlsMarginBytes = size_t{64} << 10;
constexpr size_t kDescriptorBytes = 4096;
constexpr size_t kPageBytes = 4096;

// What the new thread finds on its stack.
struct Start {
  void (*function)(void*);
  void* argument;
};

constexpr uint64_t kFlags = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                            CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID;

#if defined(__x86_64__)

uint64_t ThreadPointer() {
  uint64_t pointer;
  asm("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

// glibc's tcbhead_t (sysdeps/x86_64/nptl/tls.h): tcb at 0, self at 0x10, stack guard at 0x28,
// pointer guard at 0x30.
void FillDescriptor(char* descriptor) {
  const uint64_t self = reinterpret_cast<uint64_t>(descriptor);
  const auto* parent = reinterpret_cast<const char*>(ThreadPointer());
  memcpy(descriptor, &self, 8);
  memcpy(descriptor + 0x10, &self, 8);
  memcpy(descriptor + 0x28, parent + 0x28, 16);
}

// clone() whose child starts on `stack_top`, pops a Start from it and calls it. Written out because
// the child must not return through a frame that it shares with its parent.
long CloneRaw(char* stack_top, char* tls, std::atomic<int32_t>* tid_word) {
  long result;
  register long r10 asm("r10") = reinterpret_cast<long>(tid_word);
  register long r8 asm("r8") = reinterpret_cast<long>(tls);
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "pop %%rax\n\t"
      "pop %%rdi\n\t"
      "call *%%rax\n\t"
      "ud2\n"
      "1:"
      : "=a"(result)
      : "a"(SYS_clone), "D"(kFlags), "S"(stack_top), "d"(tid_word), "r"(r10), "r"(r8)
      : "rcx", "r11", "memory");
  return result;
}

#else

uint64_t ThreadPointer() { return reinterpret_cast<uint64_t>(__builtin_thread_pointer()); }
void FillDescriptor(char*) {}

// AArch64 is not tested yet: the session runs without a drain thread there and writes its profile
// at the end.
long CloneRaw(char*, char*, std::atomic<int32_t>*) { return -ENOSYS; }

#endif

// The calling thread's signal mask, all blocked while in scope, so that the new thread starts with
// every signal blocked.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    const uint64_t all = ~uint64_t{0};
    base::Syscall(SYS_rt_sigprocmask, kSetMask, &all, &old_, sizeof(old_));
  }
  ~AllSignalsBlocked() {
    base::Syscall(SYS_rt_sigprocmask, kSetMask, &old_, nullptr, sizeof(old_));
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  static constexpr int kSetMask = 2;  // SIG_SETMASK
  uint64_t old_ = 0;                  // the kernel's sigset_t: 64 signals
};

// Of our thread-local block from the thread pointer; negative on x86-64.
int64_t ThreadStateOffset() {
  return static_cast<int64_t>(reinterpret_cast<uint64_t>(&ledger::thread_state) - ThreadPointer());
}

// Room below the descriptor that reaches our block, in whole pages.
size_t TlsBytes() {
  const int64_t offset = ThreadStateOffset();
  const size_t depth = offset < 0 ? static_cast<size_t>(-offset) : 0;
  return (depth + kTlsMarginBytes + kPageBytes - 1) & ~(kPageBytes - 1);
}

// The new thread's TLS block: our own variable with the guard held, so that a hook reached by
// accident passes through.
void HoldGuard(char* descriptor) {
  ledger::ThreadState state = {};
  state.depth = 1;
  memcpy(descriptor + ThreadStateOffset(), &state, sizeof(state));
}

}  // namespace

long StartRawThread(void (*function)(void*), void* argument, std::atomic<int32_t>& exited) {
  const size_t tls_bytes = TlsBytes();
  auto* memory = static_cast<char*>(base::MapPages(kStackBytes + tls_bytes + kDescriptorBytes,
                                                    base::MemoryUse::kDrain));
  if (memory == nullptr) return -ENOMEM;
  char* descriptor = memory + kStackBytes + tls_bytes;
  FillDescriptor(descriptor);
  HoldGuard(descriptor);
  auto* start = reinterpret_cast<Start*>(memory + kStackBytes) - 1;
  *start = {function, argument};
  const AllSignalsBlocked blocked;
  return CloneRaw(reinterpret_cast<char*>(start), descriptor, &exited);
}

void CloseAllDescriptors() {
  if (base::Syscall(SYS_close_range, 0, ~0u, 0) == 0) return;
  for (int fd = 0; fd < 65536; ++fd) base::Syscall(SYS_close, fd);  // kernels before 5.9
}

void FutexWait(std::atomic<uint32_t>& word, uint32_t value, uint64_t nanos) {
  timespec timeout = {static_cast<time_t>(nanos / 1'000'000'000),
                      static_cast<long>(nanos % 1'000'000'000)};
  base::Syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &timeout, nullptr, 0);
}

void FutexWakeAll(std::atomic<uint32_t>& word) {
  base::Syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 0x7fffffff, nullptr, nullptr, 0);
}

}  // namespace memagent::runtime
