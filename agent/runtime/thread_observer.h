// The perf events of one host thread: opened by the drain thread for the thread's id, in the drain
// thread's own descriptor table, so that the host sees no descriptor and makes no system call.
//
//   access events (cpu-clock, loads, ...) --SET_OUTPUT--+
//   minor faults                          --SET_OUTPUT--+--> one ring --> PendingSamples
//   major faults                          ---- mmap ----+
//
// Events whose samples come through an AUX area have a ring each instead (aux_channel.h).
//
// Mapping a ring of 32 pages takes 40 to 50 us, one of 8 pages 20, and a starting thread waits for
// it: so a ring begins small and is replaced by one of full size when it fills fast. That is why
// the rarest event owns it: only an event without a mapping of its own can be moved to another
// ring.
//
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_THREAD_OBSERVER_H_
#define MEMAGENT_AGENT_RUNTIME_THREAD_OBSERVER_H_

#include <cstdint>
#include <span>

#include "agent/aggregate/accounting.h"
#include "agent/base/containers.h"
#include "agent/capture/event_selection.h"
#include "agent/decode/ibs_raw.h"
#include "agent/ledger/thread_record.h"
#include "agent/runtime/access_events.h"
#include "agent/runtime/aux_channel.h"
#include "agent/runtime/observed_event.h"
#include "agent/runtime/open_outcome.h"
#include "agent/runtime/pending_sample.h"
#include "agent/runtime/spe_cpus.h"
#include "agent/runtime/watched_ring.h"

namespace memagent::runtime {

// What all threads of a session have in common.
struct ObserverContext {
  RingSpans spans;
  decode::IbsProcessor processor;
  SpeCpus spe_cpus;
};

class ThreadObserver {
 public:
  ThreadObserver(ledger::ThreadRecord* record, ObserverContext& context)
      : record_(record), context_(context), ring_(context.spans) {}
  ThreadObserver(const ThreadObserver&) = delete;
  ThreadObserver& operator=(const ThreadObserver&) = delete;

  // `fault_period` 0 means adaptive. A ring too big for the locked-memory allowance is halved.
  // Page faults beside the access events of `plan`, if there is one, from `rungs` on (empty: from
  // the best). Both outlive the observer. What was open before is closed.
  OpenOutcome Open(const capture::EventSelection& selection, const capture::EnginePlan* plan,
                   const Rungs& rungs, uint64_t ring_pages, uint64_t fault_period);

  // Appends what the ring holds to `batch`; broken records go to `accounting`.
  void Read(base::Vector<PendingSample>& batch, aggregate::Accounting& accounting);

  // Moves to a ring of `pages`, if that is more; what the old one holds goes to `batch`.
  void GrowRing(uint64_t pages, base::Vector<PendingSample>& batch,
                aggregate::Accounting& accounting);

  // Books what the kernel lost since the last call, event by event, and spreads lost page faults
  // over those of this `batch` that came from this thread (from index `first`).
  void BookLosses(aggregate::Accounting& accounting, std::span<PendingSample> fresh);

  // Keeps first touch at about 1 % of the thread's time by widening the fault period while faults
  // are many; does nothing when the period was given.
  void AdaptFaultPeriod(uint64_t tick_nanos);

  // As AccessEvents::SetPeriod. With AUX areas, what they hold is then ready to be read.
  void SetPeriod(const capture::EnginePlan& plan, uint32_t factor, uint64_t random) {
    accesses_.SetPeriod(plan, factor, random);
  }

  // Asks the kernel whether the thread has ended. What it left in its rings is still to be read.
  void LookWhetherEnded(int32_t pid);
  bool has_ended() const { return ended_; }

  // Of the plan's access events, refreshed by BookLosses; one that is not open has no counts.
  const base::Vector<ObservedEvent>& accesses() const { return accesses_.all(); }
  uint64_t fault_period() const { return fault_period_; }
  ledger::ThreadRecord* record() const { return record_; }
  // The thread has a record of its own now: what is sampled from here on is that one's.
  void Follow(ledger::ThreadRecord* record) { record_ = record; }
  // Whether the ring was over a quarter full at the last Read.
  bool was_busy() const { return was_busy_; }

 private:
  void MapChannels(const capture::EnginePlan& plan, OpenOutcome& outcome);
  void OpenRing(uint64_t pages, OpenOutcome& outcome);
  bool HasChannel(const ObservedEvent& event) const;
  // The event whose ring all write to; nullptr when none is open.
  ObservedEvent* RingOwner();
  bool MapRing(const ObservedEvent& owner, uint64_t pages, OpenOutcome& outcome);
  void CloseAll();
  // 0 or a negative errno.
  long RedirectTo(const ObservedEvent& owner);
  void EnableAll(const capture::EnginePlan* plan, OpenOutcome& outcome);
  void Take(std::span<const uint8_t> bytes, base::Vector<PendingSample>& batch,
            aggregate::Accounting& accounting);
  void ReadChannels(base::Vector<PendingSample>& batch, aggregate::Accounting& accounting);
  // Says of samples from index `first` on that they are this thread's.
  void Own(base::Vector<PendingSample>& batch, size_t first) const;
  ObservedEvent* EventWithId(uint64_t id);
  bool IsFault(const ObservedEvent* event) const { return event == &minor_ || event == &major_; }
  // Calls f(event) for each that is open.
  template <typename F>
  void ForEachEvent(F f) {
    for (ObservedEvent& event : accesses_.all()) {
      if (event.open()) f(event);
    }
    if (minor_.open()) f(minor_);
    if (major_.open()) f(major_);
  }

  ledger::ThreadRecord* record_;
  ObserverContext& context_;
  AccessEvents accesses_;
  base::OrderedMap<size_t, AuxChannel> channels_;  // by index of the access event
  ObservedEvent minor_;
  ObservedEvent major_;
  const capture::EventLadder* major_ladder_ = nullptr;
  WatchedRing ring_;
  bool can_grow_ = true;
  uint64_t lost_by_closed_ = 0;  // lost records of an event that a GrowRing closed
  uint64_t fault_period_ = 1;
  size_t fault_step_ = 0;  // index of an adaptive fault_period_
  bool adapt_faults_ = false;
  uint64_t faults_this_tick_ = 0;
  bool was_busy_ = false;
  bool ended_ = false;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_THREAD_OBSERVER_H_
