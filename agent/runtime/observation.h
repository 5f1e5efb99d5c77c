// All host threads as the drain thread keeps them: the living with their events, and what is known
// of each for the profile. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_OBSERVATION_H_
#define MEMAGENT_AGENT_RUNTIME_OBSERVATION_H_

#include <cstdint>

#include "agent/aggregate/aggregator.h"
#include "agent/attribute/attributor.h"
#include "agent/base/containers.h"
#include "agent/base/options.h"
#include "agent/capture/engine_errors.h"
#include "agent/capture/event_selection.h"
#include "agent/os/clock.h"
#include "agent/runtime/cpu_observer.h"
#include "agent/runtime/event_log.h"
#include "agent/runtime/thread_observer.h"

namespace memagent::runtime {

// One thread, for the profile.
struct ThreadSummary {
  Tid tid = 0;
  bool main = false;
  Nanos started = 0;
  Nanos ended = 0;  // 0: alive
  uint32_t creator = 0;  // the thread that made it; 0: not known
  Nanos created = 0;     // when that set out to make it
  uint64_t unobserved_nanos = 0;
  // Of the plan's access events; of those that were closed in between, too.
  base::Vector<EventCounts> events;
  base::Vector<EventCounts> events_before;
  uint64_t running_before = 0;
  // Time that the events were enabled, and that one of each kind was running.
  uint64_t enabled_nanos = 0;
  uint64_t running_nanos = 0;
  uint64_t throttled = 0;
  base::String name;
  base::String not_sampled;  // why it has no access event, "" when it has
};

// An engine that was tried and could not be used.
struct EngineFailure {
  EngineKind engine = EngineKind::kNone;
  int error = 0;
  capture::EngineStep step = capture::EngineStep::kOpen;
  const capture::EventAttempt* attempt = nullptr;  // that failed last, where it is known
};
capture::EngineError ExplainFailure(const EngineFailure& failure,
                                    const capture::EngineFacts& facts);

// How the events opened, from the first thread: the same for all unless a limit is hit.
struct EngineInUse {
  const capture::EnginePlan* plan = nullptr;  // nullptr: only page faults are sampled
  const capture::EventAttempt* access = nullptr;
  const capture::EventAttempt* minor_faults = nullptr;
  bool whole_cpus = false;               // its events are not the threads', but the CPUs'
  base::Vector<EngineFailure> failures;  // of plans before this one, and of this one without access
  Rungs rungs;
  uint64_t ring_pages = 0;
  bool known = false;
  bool silence_said = false;  // it does nothing, and no other plan is left
};

class Observation {
 public:
  Observation(const base::Options& options, attribute::Attributor& attributor,
              aggregate::Aggregator& aggregator, const os::TscClock& clock, EventLog& log,
              int32_t pid, Nanos session_started)
      : options_(options),
        attributor_(attributor),
        aggregator_(aggregator),
        clock_(clock),
        log_(log),
        pid_(pid),
        session_started_(session_started) {}

  // Both must outlive this.
  void SetSelection(const capture::EventSelection* selection, const capture::EngineFacts& facts);

  // Opens events for threads that registered since the last call and lets them go on; returns how
  // many they were. What else is to be known of them waits for EnrolNewThreads.
  size_t AdoptNewThreads();
  // The same for every thread that is not observed, after a start or a CloseAll.
  void AdoptAllThreads();

  // Learns names and stacks of the threads adopted since the last call. Called before samples are
  // attributed. True if there were any.
  bool EnrolNewThreads();

  // Whether events open at all, so that a starting thread has something to wait for.
  bool any_event() const { return engine_.access != nullptr || engine_.minor_faults != nullptr; }

  // Opens events for threads that the kernel lists and that called no hook yet: made by clone() or
  // system call, or started before the agent was there (pitfalls P42). A thread is taken when two
  // calls in a row have found it, since one that has just started registers itself.
  void AdoptUnseenThreads();

  // Empties every ring into `batch`; true when some ring was over a quarter full.
  bool ReadRings(base::Vector<PendingSample>& batch, uint64_t tick_nanos);

  // Marks the threads that have ended. Called before their last samples are read.
  void FindEndedThreads();
  // Gives back what belonged to those. Called after their last samples were taken.
  void BuryEndedThreads();

  // Closes every event and ring; the next AdoptNewThreads opens them again.
  void CloseAll();

  void RefreshNames();
  // Moves the sampling period of every thread a little, so that it can't lock onto a loop; with
  // that, hardware hands over the samples that it has buffered (AUX areas), to be read by the next
  // ReadRings. At most every kJitterNanos, unless `now_or_never`, however often it is called:
  // moving a period restarts it, which costs half a period, 2.5 % of the samples at 1 kHz. By
  // ticks, which come every half a millisecond while a program frees in a storm, it left 17 of 293
  // samples. Eight times less often, a loop of 27 us shifted shares by 3 points.
  void JitterPeriods(Nanos now, bool now_or_never);
  // Up to when all samples have been read, if ReadRings was called at `now`.
  Nanos ReadUntil(Nanos now) const;
  // From now on every thread is sampled that many times less often.
  void SetPeriodFactor(uint32_t factor);
  static constexpr Nanos kJitterNanos = 20'000'000;

  const base::OrderedMap<uint32_t, ThreadSummary>& threads() const { return summaries_; }
  const EngineInUse& engine() const { return engine_; }
  // Of each of the plan's events, over all threads; `threads` counts those in which it was open.
  struct EventSum {
    EventCounts counts;
    uint64_t threads = 0;
  };
  base::Vector<EventSum> SumEvents() const;
  // Events of plans that were given up.
  struct RetiredEvent {
    const capture::EventAttempt* attempt = nullptr;
    EventSum sum;
  };
  const base::Vector<RetiredEvent>& retired_events() const { return retired_; }

  // After RefreshNames: gives up an engine that is open and does nothing, if another is left to
  // try; lengthens periods while the kernel throttles; says so. What was still to be read goes to
  // `batch`.
  void JudgeEngine(Nanos now, base::Vector<PendingSample>& batch);
  size_t living() const { return observers_.size(); }

 private:
  void Adopt(ledger::ThreadRecord* record);
  void NoteMissed(ThreadSummary& summary, uint64_t since_tsc);
  void AdoptIfNew(ledger::ThreadRecord* record);
  base::String NameOf(const ThreadObserver& observer) const;
  uint64_t FirstRingPages(const ledger::ThreadRecord& record) const;
  uint32_t NumberOf(const ledger::ThreadRecord* record);
  void Observe(ledger::ThreadRecord* record, uint32_t serial);
  bool IsGone(Tid tid) const;
  OpenOutcome OpenEvents(ThreadObserver& observer);
  void TryWholeCpus(OpenOutcome& outcome);
  capture::EngineError Explain(const EngineFailure& failure) const;
  bool ReadCpus(base::Vector<PendingSample>& batch);
  void BookCpuLosses();
  void KeepCpuCounts();
  void RetireEvents();
  void TakeNextPlan(const EngineFailure& failure, const capture::EnginePlan* next,
                    base::Vector<PendingSample>& batch);
  void JudgeSilence(base::Vector<PendingSample>& batch);
  void JudgeThrottling();
  void JudgeSampleRate();
  void JudgeReading();
  void JudgeAreas();
  uint32_t PeriodFactor() const { return period_factor_ * throttle_factor_; }
  uint64_t NextRandom();
  void MovePeriods();
  // Whether another plan can take the place of one that opened no access event.
  bool TryNextPlan(const OpenOutcome& outcome);
  void NoteMissing(const OpenOutcome& outcome);
  void NoteOutcome(const OpenOutcome& outcome, ThreadSummary& summary);
  void Bury(uint32_t serial, ThreadObserver& observer);
  void MovePeriod(ThreadObserver& observer);
  void UpdateSummary(uint32_t serial, const ThreadObserver& observer);

  const base::Options& options_;
  attribute::Attributor& attributor_;
  aggregate::Aggregator& aggregator_;
  const os::TscClock& clock_;
  EventLog& log_;
  int32_t pid_;
  Nanos session_started_;
  const capture::EventSelection* selection_ = nullptr;
  const capture::EngineFacts* facts_ = nullptr;
  ObserverContext context_;
  base::OrderedMap<uint32_t, ThreadObserver> observers_;
  base::OrderedMap<uint32_t, ThreadSummary> summaries_;
  base::Vector<uint32_t> newcomers_;  // adopted, not enrolled yet
  uint32_t last_serial_ = 0;
  base::HashMap<Tid, ledger::ThreadRecord*> unseen_;  // adopted without the thread's doing
  static constexpr uint64_t kFullLook = 16;
  uint64_t looks_ = 0;
  base::Vector<Tid> suspects_;  // found by the last AdoptUnseenThreads
  EngineInUse engine_;
  CpuObserver cpus_;
  base::Vector<EventCounts> cpu_events_before_;  // of those that were closed in between
  double cpu_lost_here_ = 0;                     // less than one record, not booked yet
  base::Vector<RetiredEvent> retired_;
  Nanos next_judgement_ = 0;
  uint64_t throttled_seen_ = 0;
  uint64_t max_sample_rate_ = 0;
  uint32_t throttle_factor_ = 1;
  Nanos next_jitter_ = 0;
  Nanos last_jitter_ = 0;
  uint32_t period_factor_ = 1;
  uint64_t random_ = 0x2545f4914f6cdd1dull;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_OBSERVATION_H_
