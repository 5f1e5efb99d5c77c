#include "agent/capture/thread_start.h"

#include <linux/futex.h>
#include <time.h>

#include <algorithm>
#include <atomic>

#include "agent/base/syscall.h"
#include "agent/capture/drain_wake.h"
#include "agent/capture/hook_timing.h"
#include "agent/capture/recorder.h"
#include "agent/ledger/thread_state.h"
#include "agent/os/clock.h"
#include "agent/os/cpu_relax.h"
#include "agent/os/tsc.h"

namespace memagent::capture {
namespace {

using ledger::ThreadRecord;

constinit std::atomic<bool> awaited{false};
constinit std::atomic<bool> spinning{false};
constinit std::atomic<uint32_t> expected{0};
constinit std::atomic<uint32_t> starts_not_observed{0};

// Opening takes 30 to 80 us; about 50 us of looks.
constexpr int kLooks = 2500;

bool IsObserved(const ThreadRecord& thread) {
  return thread.observed.load(std::memory_order_acquire) == ThreadRecord::kObserved;
}

void Spin(const ThreadRecord& thread) {
  for (int i = 0; i < kLooks && !IsObserved(thread); ++i) os::CpuRelax();
}

// What waits may cost the program beyond kFreeWaitNanos each, as wall time: threads that wait at the
// same time wait once.
class WaitBudget {
 public:
  void Open(Nanos now) {
    opened_.store(now, std::memory_order_relaxed);
    spent_.store(0, std::memory_order_relaxed);
  }
  bool IsUsedUp(Nanos now) const {
    const Nanos granted = kBurstNanos + (now - opened_.load(std::memory_order_relaxed)) / kShare;
    return spent_.load(std::memory_order_relaxed) >= granted;
  }
  void Charge(Nanos from, Nanos to) {
    const Nanos charged = charged_until_.exchange(to, std::memory_order_relaxed);
    const Nanos start = std::max(from + kFreeWaitNanos, charged);
    if (to > start) spent_.fetch_add(to - start, std::memory_order_relaxed);
  }

 private:
  static constexpr Nanos kBurstNanos = 300'000'000;
  static constexpr Nanos kShare = 20;

  std::atomic<Nanos> opened_{0};
  std::atomic<Nanos> spent_{0};
  std::atomic<Nanos> charged_until_{0};
};
constinit WaitBudget budget;

// For at most `nanos`; false when that was not enough, or a signal of the host interrupted.
bool SleepUntilObserved(ThreadRecord& thread, Nanos nanos) {
  const timespec timeout = {0, static_cast<long>(nanos)};
  uint32_t state = ThreadRecord::kSpins;
  if (!thread.observed.compare_exchange_strong(state, ThreadRecord::kSleeps)) return true;
  base::Syscall(SYS_futex, &thread.observed, FUTEX_WAIT_PRIVATE, ThreadRecord::kSleeps, &timeout,
                nullptr, 0);
  return IsObserved(thread);
}

// The thread runs on without events.
void GiveUp(ThreadRecord& thread) {
  thread.runs_since_tsc = os::ReadTsc();
  uint32_t state = ThreadRecord::kSleeps;
  if (thread.observed.compare_exchange_strong(state, ThreadRecord::kNotObserved)) {
    starts_not_observed.fetch_add(1, std::memory_order_relaxed);
  }
}

void Await(ThreadRecord& thread) {
  const Nanos start = os::MonotonicNanos();
  const bool broke = budget.IsUsedUp(start);
  const Nanos limit = broke ? kFreeWaitNanos : kObserveMillis * Nanos{1'000'000};
  if (!SleepUntilObserved(thread, limit)) GiveUp(thread);
  budget.Charge(start, os::MonotonicNanos());
}

}  // namespace

void SetStartsAwaited(bool on) { awaited.store(on, std::memory_order_relaxed); }
void OpenWaitBudget() { budget.Open(os::MonotonicNanos()); }
uint32_t StartsNotObserved() { return starts_not_observed.load(std::memory_order_relaxed); }
void AllowSpinning(bool allowed) { spinning.store(allowed, std::memory_order_relaxed); }

void ExpectThread() {
  expected.fetch_add(1);
  if (awaited.load(std::memory_order_relaxed) && spinning.load(std::memory_order_relaxed)) {
    NudgeDrain();
  }
}

void ForgetExpectedThread() { expected.fetch_sub(1); }
void ForgetExpectedThreads() {
  expected.store(0);
  starts_not_observed.store(0);
}
bool ThreadExpected() {
  return expected.load(std::memory_order_relaxed) != 0 && spinning.load(std::memory_order_relaxed);
}

void RecordThreadStart(uint32_t creator, uint64_t created_tsc) {
  if (!Recording()) return ForgetExpectedThread();
  ledger::HookGuard guard;
  const ThreadStartTimer timer;
  ledger::thread_state.creation = {creator, created_tsc};
  ThreadRecord* thread = CurrentThread();
  ForgetExpectedThread();
  if (thread == nullptr) return;
  uint32_t state = ThreadRecord::kNotObserved;
  if (!awaited.load(std::memory_order_relaxed) ||
      !thread->observed.compare_exchange_strong(state, ThreadRecord::kSpins)) {
    return;
  }
  if (drain_sleep.asleep.load()) {
    NudgeDrain();
  } else if (spinning.load(std::memory_order_relaxed)) {
    Spin(*thread);  // the drain thread is on a CPU
  }
  if (!IsObserved(*thread)) Await(*thread);
}

}  // namespace memagent::capture
