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
  uint64_t end;
};

// Reads that wait for what is before them: else a short hook hides behind the read itself, which
// takes longer than it, and the loads of the program's own malloc are still under way. On a loop of
// malloc and free the estimate then is 0.98 of what paired runs show, without waiting 0.70.
template <typename Work>
Timing Time(Work work) {
  const uint64_t before = os::ReadTscOrdered();
  const uint64_t start = os::ReadTscOrdered();
  work();
  const uint64_t end = os::ReadTscOrdered();
  return {start - before, end - start, end};
}

void Book(CostKind kind, const Timing& timing, uint32_t weight) {
  MeterOf(CostKind::kClockRead).Add(timing.read_ticks, weight);
  MeterOf(kind).Add(timing.ticks, weight);
}

StackCache& CacheOf(const ledger::ThreadRecord& thread) {
  return *static_cast<StackCache*>(thread.stack_cache);
}

// Of the sampled hooks one in this many is not timed as a whole, but up to where it asks for the time.
constexpr uint32_t kTurns = 4;
bool IsTurnOfClock() { return ledger::thread_state.countdown % kTurns == 0; }

// Without the walk of a new stack: those are timed where they happen (stack_capture.cc), many more of
// them than here. What else a new stack causes is in it: a new site, and the pages that it fills.
template <typename Work>
void TimeWithoutWalk(uint32_t weight, Work work) {
  StackCache& cache = CacheOf(*ledger::thread_state.record);
  TimeNextWalk(cache);
  Timing timing = Time(work);
  const uint64_t walk = TakeWalkTicks(cache);
  // With the two reads around the walk.
  if (walk != 0) timing.ticks -= std::min(timing.ticks, walk + timing.read_ticks);
  Book(CostKind::kAllocation, timing, weight);
}

// Up to where the hook asks for the time: it is made to read the counter there. A copy of the look-up
// to be timed on its own would be cold where the hook's code is warm. The code that reads the
// counter in the middle of a hook is cold, too, in frees as in allocations: only their difference
// means something.
template <typename Work>
void TimeToClock(CostKind kind, uint32_t weight, Work work) {
  ledger::ThreadRecord& thread = *ledger::thread_state.record;
  thread.clock.samples_seen = ledger::HookClock::kStale;
  TimeNextWalk(CacheOf(thread));
  Timing timing = Time(work);
  const uint64_t rest = timing.end - thread.clock.ticks;
  if (TakeWalkTicks(CacheOf(thread)) != 0 || rest > timing.ticks) return;  // walked, or not asked
  timing.ticks -= rest;
  Book(kind, timing, weight);
}

template <typename Work>
void TimeErase(Work work) {
  const TimedHook hook;
  if (ledger::thread_state.record->stack_cache == nullptr || !IsTurnOfClock()) {
    return Book(CostKind::kFree, Time(work), hook.weight());
  }
  MeterOf(CostKind::kFree).AddUntimed(hook.weight());
  TimeToClock(CostKind::kFreeToTime, hook.weight(), work);
}

}  // namespace

[[gnu::cold]] void TimeAllocation(void* block, size_t size, HookFrame frame) {
  const TimedHook hook;
  const auto work = [&] { RecordAllocation(block, size, frame); };
  if (ledger::thread_state.record->stack_cache == nullptr) return work();
  if (!IsTurnOfClock()) return TimeWithoutWalk(hook.weight(), work);
  MeterOf(CostKind::kAllocation).AddUntimed(hook.weight());
  TimeToClock(CostKind::kAllocationToTime, hook.weight(), work);
}

[[gnu::cold]] bool TimeFree(void* block, ledger::Block&) {
  bool erased = false;
  TimeErase([&] { erased = RecordFree(block); });
  return erased;
}

[[gnu::cold]] bool TimeReallocStart(void* block, ledger::Block& erased) {
  ReallocUndo undo;
  TimeErase([&] { undo = RecordReallocStart(block); });
  erased = undo.block;
  return undo.erased;
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
