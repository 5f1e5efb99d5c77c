// The hooks that are timed (ledger/cost_meter.h): the same code, run between two reads of the
// time-stamp counter. Called by the hooks when the thread's countdown reaches 0, with the guard held.
#ifndef MEMAGENT_AGENT_CAPTURE_HOOK_TIMING_H_
#define MEMAGENT_AGENT_CAPTURE_HOOK_TIMING_H_

#include <cstddef>
#include <cstdint>

#include "agent/capture/recorder.h"

namespace memagent::capture {

// What RecordAllocation, RecordFree and RecordReallocStart do, timed.
void TimeAllocation(void* block, size_t size, HookFrame hook);
bool TimeFree(void* block, ledger::Block& erased);
bool TimeReallocStart(void* block, ledger::Block& erased);

// CPU time of a starting thread between construction and destruction, of one thread in eight: the
// two system calls take about half a microsecond.
class ThreadStartTimer {
 public:
  ThreadStartTimer();
  ~ThreadStartTimer();
  ThreadStartTimer(const ThreadStartTimer&) = delete;
  ThreadStartTimer& operator=(const ThreadStartTimer&) = delete;

 private:
  uint64_t before_nanos_ = 0;  // 0: this one is not timed
};

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_HOOK_TIMING_H_
