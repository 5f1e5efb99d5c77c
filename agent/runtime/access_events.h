// A plan's access events, opened for one thread or for one CPU.
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_ACCESS_EVENTS_H_
#define MEMAGENT_AGENT_RUNTIME_ACCESS_EVENTS_H_

#include <cstdint>

#include "agent/base/containers.h"
#include "agent/capture/engine_plan.h"
#include "agent/decode/ibs_raw.h"
#include "agent/os/perf_event.h"
#include "agent/runtime/observed_event.h"
#include "agent/runtime/open_outcome.h"
#include "agent/runtime/pending_sample.h"

namespace memagent::runtime {

// The period of the next interval, from 64 random bits: the plan's times `factor`, varied so that
// it can't lock onto a loop (capture/period_jitter.h), unless the hardware does that.
uint64_t NextPeriod(const capture::EnginePlan& plan, uint32_t factor, uint64_t random);

class AccessEvents {
 public:
  // Opens what opens of each of the plan's ladders, from `rungs` on (empty: from the best),
  // disabled.
  void Open(const capture::EnginePlan& plan, const Rungs& rungs, const os::PerfTarget& target,
            OpenOutcome& outcome);
  void Close();
  // Of one event, the one of `ladder`, because of what failed after it was open.
  void Close(size_t index, const capture::EventLadder& ladder, OpenOutcome& outcome);

  bool any_open() const;
  ObservedEvent* Find(uint64_t id);
  // Moves every event to NextPeriod; a sample read from then on stands for `factor` ones.
  void SetPeriod(const capture::EnginePlan& plan, uint32_t factor, uint64_t random);
  uint32_t period_factor() const { return period_factor_; }

  // What a sample of `event`, one of them, says.
  PendingSample Pending(ObservedEvent& event, const decode::RawSample& raw,
                        const decode::IbsProcessor& processor) const;
  // What the next sample of `event` stands for.
  double ScaleOfNext(ObservedEvent& event) const;
  // Asks the kernel for every event's counts. Returns the samples lost since the last call, scaled
  // as those that were not; of event i only if `is_lost(i)`.
  template <typename F>
  uint64_t Refresh(F is_lost) {
    uint64_t lost = 0;
    for (size_t i = 0; i < events_.size(); ++i) {
      const uint64_t fresh = events_[i].Refresh();
      if (is_lost(i)) lost += Scaled(events_[i], fresh);
    }
    UpdateScales();
    return lost;
  }

  // As the plan's ladders; one that is not open has no counts.
  const base::Vector<ObservedEvent>& all() const { return events_; }
  base::Vector<ObservedEvent>& all() { return events_; }

 private:
  uint64_t Scaled(const ObservedEvent& event, uint64_t samples) const;
  void UpdateScales();

  EngineKind engine_ = EngineKind::kNone;
  base::Vector<ObservedEvent> events_;
  uint32_t period_factor_ = 1;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_ACCESS_EVENTS_H_
