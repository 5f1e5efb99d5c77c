#include "agent/runtime/drain_waiter.h"

#include <algorithm>

#include "agent/capture/drain_wake.h"
#include "agent/capture/thread_start.h"
#include "agent/ledger/thread_record.h"
#include "agent/os/clock.h"
#include "agent/os/cpu_relax.h"
#include "agent/os/task_list.h"
#include "agent/runtime/raw_thread.h"

namespace memagent::runtime {

using capture::drain_sleep;

void DrainWaiter::Begin() {
  may_spin_ = os::CountUsableCpus() > 1;
  capture::AllowSpinning(may_spin_);
  capture::SetStartsAwaited(observation_.any_event());
}

void DrainWaiter::End() { capture::SetStartsAwaited(false); }

void DrainWaiter::NoteStartsNotObserved(EventLog& log) {
  if (capture::StartsNotObserved() == 0) return;
  log.Add(profile::Severity::kWarning, "starts_not_observed",
          "The CPUs were so busy that threads started before memagent had opened their events, so "
          "their first accesses and page faults are missing; each thread says for how long.");
}

void DrainWaiter::NoteTick() { ticks_seen_ = drain_sleep.ticks_wanted.load(); }

bool DrainWaiter::TickWanted() const { return drain_sleep.ticks_wanted.load() != ticks_seen_; }

// Stays awake for a moment while a thread is expected.
size_t DrainWaiter::ServeStartingThreads() {
  size_t served = observation_.AdoptNewThreads();
  Nanos until = 0;
  while (may_spin_ && capture::ThreadExpected() && served < kStartsForTick && !TickWanted()) {
    const Nanos now = os::MonotonicNanos();
    const size_t adopted = observation_.AdoptNewThreads();
    served += adopted;
    if (adopted != 0 || until == 0) until = now + kStayAwakeNanos;
    if (now >= until) break;
    os::CpuRelax();
  }
  return served;
}

void DrainWaiter::Wait(uint64_t nanos) {
  Nanos until = os::MonotonicNanos() + nanos;
  size_t served = 0;
  while (true) {
    const size_t fresh = ServeStartingThreads();
    served += fresh;
    const Nanos now = os::MonotonicNanos();
    if (fresh != 0) until = std::min(until, now + kFirstLookNanos);
    if (now >= until || served >= kStartsForTick || TickWanted()) return;
    const uint32_t word = drain_sleep.word.load();
    drain_sleep.asleep.store(true);
    if (!TickWanted() && !ledger::HasArrivals()) FutexWait(drain_sleep.word, word, until - now);
    drain_sleep.asleep.store(false);
  }
}

}  // namespace memagent::runtime
