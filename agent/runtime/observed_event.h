// One perf event of a thread or a CPU: its descriptors, how its records read, and what was counted
// of it. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_OBSERVED_EVENT_H_
#define MEMAGENT_AGENT_RUNTIME_OBSERVED_EVENT_H_

#include <cstddef>
#include <cstdint>

#include "agent/capture/engine_plan.h"
#include "agent/decode/perf_record.h"
#include "agent/os/aux_ring.h"
#include "agent/os/file.h"
#include "agent/os/perf_event.h"
#include "agent/runtime/multiplex_scale.h"
#include "agent/runtime/open_outcome.h"

namespace memagent::runtime {

// Of one event, since it was opened.
struct EventCounts {
  uint64_t enabled_nanos = 0;
  uint64_t running_nanos = 0;  // less than enabled: the hardware was shared, or never free
  uint64_t occurrences = 0;    // what the event counts: ops, loads, nanoseconds
  uint64_t samples = 0;        // records read
  uint64_t lost = 0;           // records that found no room
  uint64_t throttled = 0;      // times that the kernel stopped it until the next tick
  // Of an event with an AUX area, in chunks: of how many hardware lost a sample because one was
  // still under way, lost some otherwise, or had no room and was stopped.
  uint64_t aux_collided = 0;
  uint64_t aux_partial = 0;
  uint64_t aux_full = 0;

  void Add(const EventCounts& other);
};

class ObservedEvent {
 public:
  // Opens the first attempt from `rung` on that is meant for the target's kind and works for it;
  // `outcome` says what failed last. nullptr when none does. The event is disabled.
  const capture::EventAttempt* Open(const capture::EventLadder& ladder, size_t rung,
                                    const os::PerfTarget& target, OpenOutcome& outcome);
  void Close();

  bool open() const { return fd_.valid(); }
  int fd() const { return fd_.get(); }
  uint64_t id() const { return id_; }
  const capture::EventAttempt* attempt() const { return attempt_; }
  uint32_t pmu_type() const { return attempt_ == nullptr ? 0 : attempt_->attr.type; }
  const decode::RecordLayout& layout() const { return layout_; }

  // What its records in the ring tell.
  void NoteSample() { ++counts_.samples; }
  void NoteThrottle() { ++counts_.throttled; }
  void NoteLost(uint64_t records) { lost_in_records_ += records; }
  void NoteAux(const os::AuxCounts& counts);

  MultiplexScale& scale() { return scale_; }
  const MultiplexScale& scale() const { return scale_; }

  // Asks the kernel. Returns the records lost since the last call.
  uint64_t Refresh();
  const EventCounts& counts() const { return counts_; }
  // The kernel once did not answer Refresh.
  bool unreadable() const { return unreadable_; }

 private:
  // A descriptor or a negative errno.
  long OpenAttempt(const capture::EventAttempt& attempt, os::PerfTarget target);

  os::UniqueFd leader_;  // of its group, where it needs one
  os::UniqueFd fd_;
  const capture::EventAttempt* attempt_ = nullptr;
  uint64_t id_ = 0;
  decode::RecordLayout layout_;
  uint64_t read_format_ = 0;
  uint64_t lost_in_records_ = 0;  // for kernels before 6.0, which keep no count
  EventCounts counts_;
  MultiplexScale scale_;
  bool unreadable_ = false;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_OBSERVED_EVENT_H_
