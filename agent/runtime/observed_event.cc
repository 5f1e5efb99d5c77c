#include "agent/runtime/observed_event.h"

namespace memagent::runtime {

void EventCounts::Add(const EventCounts& other) {
  enabled_nanos += other.enabled_nanos;
  running_nanos += other.running_nanos;
  occurrences += other.occurrences;
  samples += other.samples;
  lost += other.lost;
  throttled += other.throttled;
}

bool ObservedEvent::OpenAttempt(const capture::EventAttempt& attempt, Tid tid, int& error) {
  os::PerfTarget target = {.tid = tid};
  if (attempt.has_leader) {
    perf_event_attr attr = attempt.leader;
    leader_ = os::UniqueFd(os::OpenPerfEvent(attr, target));
    if (!leader_.valid()) {
      error = leader_.error();
      return false;
    }
    target.leader = leader_.get();
  }
  perf_event_attr attr = attempt.attr;
  fd_ = os::UniqueFd(os::OpenPerfEvent(attr, target));
  if (!fd_.valid()) {
    error = fd_.error();
    leader_.Reset();
    return false;
  }
  layout_ = {attr.sample_type, attr.sample_regs_user, attr.read_format};
  read_format_ = attr.read_format;
  return true;
}

const capture::EventAttempt* ObservedEvent::Open(const capture::EventLadder& ladder, size_t rung,
                                                 Tid tid, int& error) {
  for (; rung < ladder.size(); ++rung) {
    if (ladder[rung].scope != capture::EventScope::kThread) continue;
    if (!OpenAttempt(ladder[rung], tid, error)) continue;
    error = 0;
    attempt_ = &ladder[rung];
    id_ = os::PerfEventId(fd_.get()).value_or(0);
    return attempt_;
  }
  return nullptr;
}

void ObservedEvent::Close() {
  fd_.Reset();
  leader_.Reset();
}

uint64_t ObservedEvent::Refresh() {
  if (!open()) return 0;
  uint64_t lost = lost_in_records_;
  if (const auto counts = os::ReadPerfCounts(fd_.get(), read_format_)) {
    counts_.enabled_nanos = counts->enabled_nanos;
    counts_.running_nanos = counts->running_nanos;
    counts_.occurrences = counts->value;
    if (counts->has_lost) lost = counts->lost;
  }
  const uint64_t fresh = lost - counts_.lost;
  counts_.lost = lost;
  return fresh;
}

}  // namespace memagent::runtime
