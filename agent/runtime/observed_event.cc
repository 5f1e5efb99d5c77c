#include "agent/runtime/observed_event.h"

namespace memagent::runtime {

void EventCounts::Add(const EventCounts& other) {
  enabled_nanos += other.enabled_nanos;
  running_nanos += other.running_nanos;
  occurrences += other.occurrences;
  samples += other.samples;
  lost += other.lost;
  throttled += other.throttled;
  aux_collided += other.aux_collided;
  aux_partial += other.aux_partial;
  aux_full += other.aux_full;
}

long ObservedEvent::OpenAttempt(const capture::EventAttempt& attempt, os::PerfTarget target) {
  if (attempt.has_leader) {
    perf_event_attr attr = attempt.leader;
    leader_ = os::UniqueFd(os::OpenPerfEvent(attr, target));
    if (!leader_.valid()) return -leader_.error();
    target.leader = leader_.get();
  }
  perf_event_attr attr = attempt.attr;
  fd_ = os::UniqueFd(os::OpenPerfEvent(attr, target));
  if (!fd_.valid()) {
    leader_.Reset();
    return -fd_.error();
  }
  layout_ = {attr.sample_type, attr.sample_regs_user, attr.read_format};
  read_format_ = attr.read_format;
  return fd_.get();
}

const capture::EventAttempt* ObservedEvent::Open(const capture::EventLadder& ladder, size_t rung,
                                                 const os::PerfTarget& target,
                                                 OpenOutcome& outcome) {
  const auto scope = target.tid == -1 ? capture::EventScope::kCpu : capture::EventScope::kThread;
  for (; rung < ladder.size(); ++rung) {
    const capture::EventAttempt& attempt = ladder[rung];
    if (attempt.scope != scope) continue;
    const long result = OpenAttempt(attempt, target);
    if (result < 0) {
      outcome.Fail(capture::EngineStep::kOpen, result);
      outcome.failed = &attempt;
      continue;
    }
    const long named = os::ReadPerfEventId(fd_.get(), id_);
    if (named < 0) {  // its samples could not be told from others
      outcome.Fail(capture::EngineStep::kControl, named);
      outcome.failed = &attempt;
      Close();
      return nullptr;
    }
    attempt_ = &attempt;
    return attempt_;
  }
  return nullptr;
}

void ObservedEvent::NoteAux(const os::AuxCounts& counts) {
  counts_.aux_collided = counts.collided;
  counts_.aux_partial = counts.partial;
  counts_.aux_full = counts.truncated;
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
  } else {
    unreadable_ = true;
  }
  const uint64_t fresh = lost - counts_.lost;
  counts_.lost = lost;
  return fresh;
}

}  // namespace memagent::runtime
