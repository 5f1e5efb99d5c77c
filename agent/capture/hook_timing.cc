#include "agent/capture/hook_timing.h"

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

// One allocation in this many that are sampled tells what finding its stack costs, not the whole.
constexpr uint32_t kStackTurns = 4;

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

// Finds the stack once more than the hook does, first, and counts it once.
void TimeStack(void* block, size_t size, HookFrame frame, StackCache& cache, uint32_t weight) {
  const CaptureCounts before = CountsOf(cache);
  const Timing timing = Time([&] { CaptureStack(frame.Caller(), &cache); });
  const CaptureCounts after = CountsOf(cache);
  const bool missed = after.misses != before.misses;
  if (!missed) {
    Book(CostKind::kStackHit, timing, weight);
    SetCounts(cache, before);
  }
  RecordAllocation(block, size, frame);
  if (missed) SetCounts(cache, after);
}

// Walks of new stacks are timed where they happen (stack_capture.cc), many more of them than here.
void TimeWhole(void* block, size_t size, HookFrame frame, StackCache& cache, uint32_t weight) {
  const uint64_t misses = CountsOf(cache).misses;
  const Timing timing = Time([&] { RecordAllocation(block, size, frame); });
  if (CountsOf(cache).misses == misses) return Book(CostKind::kAllocation, timing, weight);
  MeterOf(CostKind::kAllocation).AddUntimed(weight);
}

}  // namespace

[[gnu::cold]] void TimeAllocation(void* block, size_t size, HookFrame frame) {
  const TimedHook hook;
  StackCache* cache = CacheOfThread();
  if (cache == nullptr) return RecordAllocation(block, size, frame);
  if (ledger::thread_state.countdown % kStackTurns != 0) {
    return TimeWhole(block, size, frame, *cache, hook.weight());
  }
  MeterOf(CostKind::kAllocation).AddUntimed(hook.weight());
  TimeStack(block, size, frame, *cache, hook.weight());
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
