#include "agent/capture/hook_timing.h"

#include <algorithm>
#include <atomic>

#include "agent/capture/stack_capture.h"
#include "agent/ledger/cost_meter.h"
#include "agent/ledger/thread_state.h"
#include "agent/os/clock.h"
#include "agent/os/tsc.h"

namespace memagent::capture {
namespace {

using ledger::CostKind;
using ledger::MeterOf;

constinit std::atomic<uint32_t> thread_starts{0};

// Ends the countdown, and lets the hook pass through its own guard again.
class TimedHook {
 public:
  TimedHook() : weight_(ledger::thread_state.sample_weight) {
    const ledger::SampleGap gap = ledger::NextSampleGap(false);
    ledger::thread_state.countdown = gap.hooks;
    ledger::thread_state.sample_weight = gap.weight;
    --ledger::thread_state.depth;
  }
  ~TimedHook() { ++ledger::thread_state.depth; }
  TimedHook(const TimedHook&) = delete;
  TimedHook& operator=(const TimedHook&) = delete;

  uint32_t weight() const { return weight_; }

 private:
  uint32_t weight_;
};

struct Timing {
  uint64_t read_ticks;  // between two reads in a row
  uint64_t ticks;       // between the reads around the work
};

template <typename Work>
Timing Time(Work work) {
  const uint64_t before = os::ReadTsc();
  const uint64_t start = os::ReadTsc();
  work();
  const uint64_t end = os::ReadTsc();
  return {start - before, end - start};
}

void Book(CostKind kind, const Timing& timing, uint32_t weight) {
  MeterOf(CostKind::kClockRead).Add(timing.read_ticks, weight);
  MeterOf(kind).Add(timing.ticks, weight);
}

StackCache* CacheOfThread() {
  return static_cast<StackCache*>(ledger::thread_state.record->stack_cache);
}

// Without the walk of a new stack: those are timed where they happen (stack_capture.cc), many more of
// them than here. What else a new stack causes is in it: a new site, and the pages that it fills.
void TimeWithoutWalk(void* block, size_t size, HookFrame frame, StackCache& cache, uint32_t weight) {
  TimeNextWalk(cache);
  Timing timing = Time([&] { RecordAllocation(block, size, frame); });
  const uint64_t walk = TakeWalkTicks(cache);
  // With the two reads around the walk.
  if (walk != 0) timing.ticks -= std::min(timing.ticks, walk + timing.read_ticks);
  Book(CostKind::kAllocation, timing, weight);
}

}  // namespace

[[gnu::cold]] void TimeAllocation(void* block, size_t size, HookFrame frame) {
  const TimedHook hook;
  StackCache* cache = CacheOfThread();
  if (cache == nullptr) return RecordAllocation(block, size, frame);
  TimeWithoutWalk(block, size, frame, *cache, hook.weight());
}

[[gnu::cold]] ReallocUndo TimeFree(void* block) {
  const TimedHook hook;
  ReallocUndo undo;
  Book(CostKind::kFree, Time([&] { undo = RecordReallocStart(block); }), hook.weight());
  return undo;
}

ThreadStartTimer::ThreadStartTimer() {
  constexpr uint64_t kTimedOneIn = 8;
  if (thread_starts.fetch_add(1, std::memory_order_relaxed) % kTimedOneIn == 0) {
    before_nanos_ = os::ThreadCpuNanos();
  }
}

ThreadStartTimer::~ThreadStartTimer() {
  ledger::CostMeter& meter = MeterOf(CostKind::kThreadStart);
  if (before_nanos_ == 0) {
    meter.AddUntimed(1);
  } else {
    meter.AddLong(os::ThreadCpuNanos() - before_nanos_, 1);
  }
}

}  // namespace memagent::capture
