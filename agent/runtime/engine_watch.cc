#include "agent/runtime/engine_watch.h"

namespace memagent::runtime {
namespace {

// Rotation gives every event its turn within a few ticks of 1 to 10 ms (facts: perf_abi 8.1 asks
// after 100 ms).
constexpr uint64_t kEnabledNanos = 100'000'000;
// IBS counts every op: even a slow core has 10^8 in a second.
constexpr uint64_t kRunningNanos = 1'000'000'000;
// So many periods without a sample are no chance.
constexpr uint64_t kPeriods = 16;

bool IsDeaf(const EventCounts& counts, const capture::EnginePlan& plan) {
  if (counts.samples + counts.lost != 0) return false;
  if (counts.occurrences / kPeriods >= plan.period) return true;
  return plan.engine == EngineKind::kIbs && counts.occurrences == 0 &&
         counts.running_nanos >= kRunningNanos;
}

}  // namespace

EventState StateOf(const EventCounts& counts, const capture::EnginePlan& plan) {
  if (counts.running_nanos == 0) {
    return counts.enabled_nanos < kEnabledNanos ? EventState::kTooEarly : EventState::kNeverRan;
  }
  return IsDeaf(counts, plan) ? EventState::kNeverSampled : EventState::kWorks;
}

EventState StateOfEngine(std::span<const EventCounts> events, const capture::EnginePlan& plan) {
  EventState state = EventState::kTooEarly;
  bool too_early = false;
  for (const EventCounts& counts : events) {
    const EventState one = StateOf(counts, plan);
    if (one == EventState::kWorks) return one;
    too_early |= one == EventState::kTooEarly && counts.enabled_nanos != 0;
    if (one != EventState::kTooEarly) state = one;
  }
  return too_early ? EventState::kTooEarly : state;
}

}  // namespace memagent::runtime
