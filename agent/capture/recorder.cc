#include "agent/capture/recorder.h"

#include <algorithm>

#include "agent/base/syscall.h"
#include "agent/capture/drain_wake.h"
#include "agent/capture/hook_timing.h"
#include "agent/capture/placement.h"
#include "agent/capture/stack_cache.h"
#include "agent/ledger/cost_meter.h"
#include "agent/ledger/site_table.h"
#include "agent/ledger/thread_state.h"
#include "agent/os/tsc.h"

namespace memagent::capture {
namespace {

using ledger::HookGuard;
using ledger::ThreadRecord;

// One word, so that the hooks read one: 0 records nothing, 1 every block, else see SetSampleBytes.
constinit std::atomic<uint32_t> tracking{1};
constinit std::atomic<uint32_t> sample_bytes{1};
constinit std::atomic<uint32_t> unloads{0};

[[gnu::noinline, gnu::cold]] ThreadRecord* AdoptThread() {
  const auto tid = static_cast<Tid>(base::Syscall(SYS_gettid));
  const bool is_main = tid == base::Syscall(SYS_getpid);
  const auto sp = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  ThreadRecord* record = ledger::RegisterThread(tid, is_main, sp, ledger::thread_state.creation);
  if (record == nullptr) return nullptr;
  if (record->stack_cache == nullptr) {
    record->stack_cache = CreateStackCache();
  } else {
    TakeOverStackCache(*static_cast<StackCache*>(record->stack_cache));
  }
  record->clock.samples_seen = ledger::HookClock::kStale;
  ledger::thread_state.record = record;
  const ledger::SampleGap gap = ledger::NextSampleGap(true);
  ledger::thread_state.countdown = gap.hooks;
  ledger::thread_state.sample_weight = gap.weight;
  return record;
}

[[gnu::noinline]] SiteId SiteOf(ThreadRecord& thread, RegionKind kind, StackId stack) {
  const SiteId site = ledger::SiteOfStack(kind, stack);
  if (site == SiteId::kUnknown) thread.untracked.Add(UntrackedReason::kSiteTableFull);
  return site;
}

[[gnu::noinline]] SiteId PickedSiteOf(ThreadRecord& thread, StackId stack,
                                      ledger::PickClass picked) {
  const SiteId site = ledger::SiteOfPicked(stack, picked);
  if (site == SiteId::kUnknown) thread.untracked.Add(UntrackedReason::kSiteTableFull);
  return site;
}

// A stack that was seen before is kept with its site.
[[gnu::always_inline]] inline SiteId HeapSiteOf(ThreadRecord& thread, ledger::PickClass picked,
                                                const FrameStart& caller) {
  const CapturedStack captured = Capture(caller, static_cast<StackCache*>(thread.stack_cache));
  if (!picked.certain()) [[unlikely]]
    return PickedSiteOf(thread, captured.stack, picked);
  if (captured.note != nullptr && *captured.note != 0) [[likely]]
    return SiteId{*captured.note};
  const SiteId site = SiteOf(thread, RegionKind::kHeap, captured.stack);
  if (captured.note != nullptr) *captured.note = static_cast<uint32_t>(site);
  return site;
}

void PushHistory(ThreadRecord& thread, const ledger::Displaced& displaced) {
  for (int i = 0; i < displaced.count; ++i) {
    if (!thread.history.Push(displaced.blocks[i])) {
      thread.history_lost_at.store(ledger::Now(), std::memory_order_relaxed);
      thread.history_lost.fetch_add(1, std::memory_order_relaxed);
    }
  }
  if (displaced.count > 0 && thread.history.ShouldWake()) WakeDrain();
}

// `size` of the block that starts there now: of the rest of the missed one there may be other
// owners.
[[gnu::noinline, gnu::cold]] void CountMissedFree(ThreadRecord& thread, const ledger::Block& missed,
                                                  uint64_t size) {
  thread.untracked.Add(UntrackedReason::kMissedFree);
  thread.counters.CountFree(missed.site, missed.size);
  if (IsPlacing() && missed.size >= ledger::kLargeBlock) {
    UnplaceBlock(missed.site, missed.start, std::min(size, missed.size));
  }
}

[[gnu::noinline, gnu::cold]] void CountRefusedInsert(ThreadRecord& thread,
                                                     ledger::InsertResult result) {
  thread.untracked.Add(result == ledger::InsertResult::kOccupied ? UntrackedReason::kSlotCollision
                                                                 : UntrackedReason::kOutOfMemory);
}

[[gnu::noinline]] void Insert(ThreadRecord& thread, uint64_t start, uint64_t size, SiteId site,
                              ledger::EventTime now) {
  ledger::Displaced displaced;
  const ledger::InsertResult result = ledger::InsertBlock(start, size, site, now, displaced);
  if (result != ledger::InsertResult::kOk) CountRefusedInsert(thread, result);
  if (displaced.missed_free) CountMissedFree(thread, displaced.missed, size);
  if (displaced.count > 0) PushHistory(thread, displaced);
  const bool known = result == ledger::InsertResult::kOk;
  if (IsPlacing() && size >= ledger::kLargeBlock && known) [[unlikely]]
    PlaceBlock(site, start, size);
}

[[gnu::noinline]] bool Erase(ThreadRecord& thread, uint64_t start, ledger::EventTime now,
                             ledger::Block& block) {
  ledger::Displaced displaced;
  if (!ledger::EraseBlock(start, now, block, displaced)) {
    thread.untracked.Add(ledger::BlocksLeftOut() ? UntrackedReason::kUnpickedFree
                                                 : UntrackedReason::kForeignFree);
    return false;
  }
  if (displaced.count > 0) PushHistory(thread, displaced);
  if (IsPlacing() && block.size >= ledger::kLargeBlock) [[unlikely]]
    UnplaceBlock(block.site, start, block.size);
  return true;
}

void PushRegion(ThreadRecord& thread, const ledger::RegionEvent& event) {
  if (!thread.regions.Push(event)) {
    thread.regions_lost.fetch_add(1, std::memory_order_relaxed);
    thread.untracked.Add(UntrackedReason::kMmapEventLost);
  }
  if (thread.regions.ShouldWake()) WakeDrain();
}

bool IsToBeTimed() { return --ledger::thread_state.countdown == 0; }

// Counts an event that a hook inside a hook could not record.
void CountReentrant() {
  if (ledger::thread_state.depth >= ledger::kForwarding) return;
  if (ThreadRecord* record = ledger::thread_state.record) {
    record->untracked.Add(UntrackedReason::kReentrant);
  }
}

[[gnu::noinline, gnu::cold]] void PlaceRegion(const ledger::RegionEvent& event) {
  if (event.kind == ledger::RegionEvent::Kind::kRemap) {
    UnplaceMapping(event.old_start, event.old_size);
  }
  if (event.region == RegionKind::kMmap) PlaceMapping(event.site, event.start, event.size);
}

void RecordRegion(ledger::RegionEvent event, const FrameStart& caller) {
  if (!Recording()) return;
  HookGuard guard;
  if (!guard.entered()) return CountReentrant();
  ThreadRecord* thread = CurrentThread();
  if (thread == nullptr) return;
  event.site = SiteOf(*thread, event.region,
                      CaptureStack(caller, static_cast<StackCache*>(thread->stack_cache)));
  if (IsPlacing()) [[unlikely]]
    PlaceRegion(event);
  PushRegion(*thread, event);
}

// The two below are the whole hook for a block that is left out by chance. False: nothing was done,
// and the hook takes its general way, as it must inside another hook and when it is to be timed.
[[gnu::always_inline]] inline ThreadRecord* UndisturbedThread() {
  const ledger::ThreadState& state = ledger::thread_state;
  return state.depth == 0 && state.countdown > 1 ? state.record : nullptr;
}

[[gnu::always_inline]] inline bool LeavesOut(size_t size, uint32_t mean) {
  ThreadRecord* thread = UndisturbedThread();
  if (thread == nullptr || !thread->sampler.LeavesOut(size, mean)) return false;
  --ledger::thread_state.countdown;
  thread->untracked.Add(UntrackedReason::kNotPicked);
  return true;
}

[[gnu::always_inline]] inline bool WasLeftOut(const void* block) {
  ThreadRecord* thread = UndisturbedThread();
  if (thread == nullptr || ledger::MayHoldBlock(reinterpret_cast<uint64_t>(block))) return false;
  --ledger::thread_state.countdown;
  thread->untracked.Add(UntrackedReason::kUnpickedFree);
  return true;
}

// Takes the block that starts at `block` out of the index. `timed` is what to do in a hook that is
// to be timed: call the caller again, whose code is a copy of its own.
template <typename Timed>
[[gnu::always_inline]] inline bool EraseRecorded(void* block, ledger::Block& erased, Timed timed) {
  const uint32_t mean = tracking.load(std::memory_order_relaxed);
  if (mean == 0) return false;
  if (mean > 1 && WasLeftOut(block)) [[unlikely]]
    return false;
  HookGuard guard;
  if (!guard.entered()) {
    CountReentrant();
    return false;
  }
  ThreadRecord* thread = CurrentThread();
  if (thread == nullptr) return false;
  if (IsToBeTimed()) [[unlikely]]
    return timed(block, erased);
  const auto start = reinterpret_cast<uint64_t>(block);
  const ledger::EventTime now = ledger::HookTime(thread->clock);
  if (!ledger::TryEraseBlock(start, now, erased) && !Erase(*thread, start, now, erased)) {
    return false;
  }
  thread->counters.CountFree(erased.site, erased.size);
  return true;
}

}  // namespace

void SetRecording(bool on) {
  tracking.store(on ? sample_bytes.load(std::memory_order_relaxed) : 0, std::memory_order_relaxed);
}
bool Recording() { return tracking.load(std::memory_order_relaxed) != 0; }

void SetSampleBytes(uint32_t mean) {
  if (mean > ledger::largest_mean.load(std::memory_order_relaxed)) {
    ledger::largest_mean.store(mean, std::memory_order_relaxed);
  }
  sample_bytes.store(mean, std::memory_order_relaxed);
  if (Recording()) SetRecording(true);
}

uint64_t LeftOutCount() {
  const ThreadRecord* record = ledger::thread_state.record;
  return record == nullptr ? 0 : record->untracked.Read(UntrackedReason::kNotPicked);
}

ThreadRecord* CurrentThread() {
  ThreadRecord* record = ledger::thread_state.record;
  return __builtin_expect(record != nullptr, 1) ? record : AdoptThread();
}

void RecordAllocation(void* block, size_t size, HookFrame hook) {
  const uint32_t mean = tracking.load(std::memory_order_relaxed);
  if (mean == 0) return;
  if (mean > 1 && LeavesOut(size, mean)) [[unlikely]]
    return;
  HookGuard guard;
  if (!guard.entered()) return CountReentrant();
  ThreadRecord* thread = CurrentThread();
  if (thread == nullptr) return;
  if (IsToBeTimed()) [[unlikely]]
    return TimeAllocation(block, size, hook);
  ledger::PickClass picked;
  if (mean > 1 && !thread->sampler.Picks(size, mean, picked)) {
    return thread->untracked.Add(UntrackedReason::kNotPicked);
  }
  const SiteId site = HeapSiteOf(*thread, picked, hook.Caller());
  if (site == SiteId::kUnknown) return;
  thread->counters.CountAllocation(site, size);
  const auto start = reinterpret_cast<uint64_t>(block);
  const ledger::EventTime now = ledger::HookTime(thread->clock);
  if (!ledger::TryInsertBlock(start, size, site, now)) Insert(*thread, start, size, site, now);
}

bool RecordFree(void* block) {
  ledger::Block erased;
  return EraseRecorded(block, erased, TimeFree);
}

ReallocUndo RecordReallocStart(void* block) {
  ReallocUndo undo;
  undo.erased = EraseRecorded(block, undo.block, TimeReallocStart);
  return undo;
}

void RecordReallocFailed(const ReallocUndo& undo) {
  if (!undo.erased) return;
  HookGuard guard;
  ThreadRecord* thread = ledger::thread_state.record;
  if (!guard.entered() || thread == nullptr) return;
  ledger::RestoreBlock(undo.block);
  thread->counters.UncountFree(undo.block.site, undo.block.size);
  if (IsPlacing() && undo.block.size >= ledger::kLargeBlock) {
    PlaceBlockAgain(undo.block.site, undo.block.start, undo.block.size);
  }
}

void RecordMap(ledger::RegionEvent::Kind kind, RegionKind region, void* start, size_t size,
               uint64_t tsc, const FrameStart& caller) {
  ledger::RegionEvent event = {};
  event.kind = kind;
  event.region = region;
  event.tsc = tsc;
  event.start = reinterpret_cast<uint64_t>(start);
  event.size = size;
  RecordRegion(event, caller);
}

void RecordRemap(void* old_start, size_t old_size, void* start, size_t size, uint64_t tsc,
                 const FrameStart& caller) {
  ledger::RegionEvent event = {};
  event.kind = ledger::RegionEvent::Kind::kRemap;
  event.region = RegionKind::kMmap;
  event.tsc = tsc;
  event.start = reinterpret_cast<uint64_t>(start);
  event.size = size;
  event.old_start = reinterpret_cast<uint64_t>(old_start);
  event.old_size = old_size;
  RecordRegion(event, caller);
}

void RecordUnmap(ledger::RegionEvent::Kind kind, void* start, size_t size, uint64_t tsc) {
  if (!Recording()) return;
  HookGuard guard;
  if (!guard.entered()) return;  // an allocator's own unmap inside a hook of ours: none makes one
  ThreadRecord* thread = CurrentThread();
  if (thread == nullptr) return;
  ledger::RegionEvent event = {};
  event.kind = kind;
  event.tsc = tsc;
  event.start = reinterpret_cast<uint64_t>(start);
  event.size = size;
  if (IsPlacing()) [[unlikely]]
    UnplaceMapping(event.start, event.size);
  PushRegion(*thread, event);
}

uint32_t UnloadCount() { return unloads.load(std::memory_order_relaxed); }
void CountUnload() { unloads.fetch_add(1, std::memory_order_relaxed); }

}  // namespace memagent::capture
