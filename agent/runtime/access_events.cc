#include "agent/runtime/access_events.h"

#include <algorithm>

#include "agent/capture/period_jitter.h"

namespace memagent::runtime {

uint64_t NextPeriod(const capture::EnginePlan& plan, uint32_t factor, uint64_t random) {
  const capture::PeriodGrid grid = {
      .granule = plan.period_step,
      .minimum = plan.shortest_period,
      .maximum = plan.uses_aux ? capture::kSpePeriods.maximum : capture::kLargestPeriod};
  const uint64_t nominal = capture::ScaledPeriod(plan.period, factor);
  return plan.varies_itself ? capture::AllowedPeriod(nominal, grid)
                            : capture::JitteredPeriod(nominal, grid, random);
}

void AccessEvents::Open(const capture::EnginePlan& plan, const Rungs& rungs,
                        const os::PerfTarget& target, OpenOutcome& outcome) {
  engine_ = plan.engine;
  events_.clear();
  events_.resize(plan.access.size());
  for (size_t i = 0; i < events_.size(); ++i) {
    const capture::EventLadder& ladder = plan.access[i];
    const size_t first = rungs.empty() ? 0 : rungs[i];
    const capture::EventAttempt* opened = events_[i].Open(ladder, first, target, outcome);
    outcome.rungs.push_back(opened == nullptr ? ladder.size()
                                              : static_cast<size_t>(opened - ladder.data()));
    if (outcome.access == nullptr) outcome.access = opened;
    if (opened == nullptr && !ladder.empty()) {
      outcome.missing.push_back({&ladder.front(), outcome.error});
    }
  }
}

void AccessEvents::Close() {
  for (ObservedEvent& event : events_) event.Close();
  events_.clear();
}

void AccessEvents::Close(size_t index, const capture::EventLadder& ladder, OpenOutcome& outcome) {
  outcome.failed = events_[index].attempt();
  events_[index].Close();
  outcome.rungs[index] = ladder.size();
  outcome.access = nullptr;
  for (const ObservedEvent& event : events_) {
    if (event.open() && outcome.access == nullptr) outcome.access = event.attempt();
  }
}

bool AccessEvents::any_open() const {
  return std::any_of(events_.begin(), events_.end(),
                     [](const ObservedEvent& event) { return event.open(); });
}

ObservedEvent* AccessEvents::Find(uint64_t id) {
  const auto found = std::find_if(events_.begin(), events_.end(), [=](const ObservedEvent& event) {
    return event.open() && event.id() == id;
  });
  return found == events_.end() ? nullptr : &*found;
}

void AccessEvents::SetPeriod(const capture::EnginePlan& plan, uint32_t factor, uint64_t random) {
  const uint64_t period = NextPeriod(plan, factor, random);
  for (const ObservedEvent& event : events_) {
    if (event.open() && os::SetPerfPeriod(event.fd(), period) == 0) period_factor_ = factor;
  }
}

double AccessEvents::ScaleOfNext(ObservedEvent& event) const {
  return static_cast<double>(period_factor_ * event.scale().Next());
}

uint64_t AccessEvents::Scaled(const ObservedEvent& event, uint64_t samples) const {
  const double each = static_cast<double>(period_factor_) * event.scale().ratio();
  return static_cast<uint64_t>(static_cast<double>(samples) * each + 0.5);
}

// An event of one kind of core can't run while the thread is on another kind, and is not wanted
// then: the time that the events of other PMUs ran is not its own.
void AccessEvents::UpdateScales() {
  for (ObservedEvent& event : events_) {
    if (!event.open()) continue;
    base::OrderedMap<uint32_t, uint64_t> elsewhere;  // by PMU
    for (const ObservedEvent& other : events_) {
      if (!other.open() || other.pmu_type() == event.pmu_type()) continue;
      uint64_t& nanos = elsewhere[other.pmu_type()];
      nanos = std::max(nanos, other.counts().running_nanos);
    }
    uint64_t wanted = event.counts().enabled_nanos;
    for (const auto& [pmu, nanos] : elsewhere) wanted -= std::min(nanos, wanted);
    event.scale().Update(wanted, event.counts().running_nanos);
  }
}

PendingSample AccessEvents::Pending(ObservedEvent& event, const decode::RawSample& raw,
                                    const decode::IbsProcessor& processor) const {
  PendingSample pending;
  pending.raw = raw;
  pending.scale = ScaleOfNext(event);
  if (engine_ != EngineKind::kSoftware) {
    pending.hardware = decode::DecodeHardware(engine_, raw, processor);
  }
  pending.raw.raw = {};  // the record's bytes are gone after this
  return pending;
}

}  // namespace memagent::runtime
