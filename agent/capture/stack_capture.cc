#include "agent/capture/stack_capture.h"

#include <atomic>
#include <new>

#include "agent/base/arena.h"
#include "agent/capture/stack_cache.h"
#include "agent/capture/unwind_table.h"
#include "agent/ledger/cost_meter.h"
#include "agent/os/tsc.h"

namespace memagent::capture {
namespace {

// Captures without a cache.
constinit std::atomic<uint64_t> uncached_misses{0};
constinit std::atomic<uint64_t> uncached_cut{0};
constinit std::atomic<uint64_t> uncached_uncovered{0};

constinit std::atomic<StackCache*> all_caches{nullptr};

// Outermost frame first, so that stacks share their outer frames; those that this stack shares with
// the last one need no look-up.
StackId InternWalked(StackCache& cache, const WalkResult& walk) {
  StackId stack = walk.cut ? CutRoot() : StackId::kNone;
  size_t shared = walk.cut == cache.interned_cut ? cache.interned_count : 0;
  cache.interned_shared = 0;
  for (size_t i = 0; i < walk.depth; ++i) {
    const uintptr_t pc = cache.pcs[walk.depth - 1 - i];
    if (i >= shared || cache.interned[i].pc != pc) {
      shared = 0;
      cache.interned[i] = {pc, InternFrame(stack, pc)};
    } else {
      ++cache.interned_shared;
    }
    stack = cache.interned[i].node;
  }
  cache.interned_count = walk.depth;
  cache.interned_cut = walk.cut;
  return stack;
}

void CountUncached(const WalkResult& walk) {
  uncached_misses.fetch_add(1, std::memory_order_relaxed);
  uncached_cut.fetch_add(walk.cut ? 1 : 0, std::memory_order_relaxed);
  uncached_uncovered.fetch_add(walk.uncovered, std::memory_order_relaxed);
}

// New rules, or another thread: nothing that is remembered is valid.
[[gnu::noinline, gnu::cold]] void StartOver(StackCache& cache, uint64_t generation) {
  cache.generation = generation;
  cache.shapes.Forget();
  cache.interned_count = 0;
  cache.pages = {};
  cache.pages.thread_pointer = ThreadPointer();
}

StackId WalkAndIntern(const FrameStart& start, StackCache& cache, WalkResult& walk) {
  StackReader reader(start.sp, &cache.pages);
  walk = WalkStack(start, reader, {cache.pcs, kMaxStackDepth}, &cache.trail);
  return InternWalked(cache, walk);
}

CapturedStack Remember(const FrameStart& start, StackCache& cache, StackId stack,
                       const WalkResult& walk) {
  cache.misses.Add(1);
  cache.cut.Add(walk.cut ? 1 : 0);
  cache.uncovered.Add(walk.uncovered);
  Shape* shape = cache.shapes.Insert(start, cache.trail, cache.pages, stack, walk.cut);
  return {stack, shape == nullptr ? nullptr : &shape->note};
}

CapturedStack WalkAndRemember(const FrameStart& start, StackCache& cache) {
  WalkResult walk;
  const StackId stack = WalkAndIntern(start, cache, walk);
  return Remember(start, cache, stack, walk);
}

// How much of a walk is waiting for memory shows when it is made again at once.
void TimeWalkAgain(const FrameStart& start, StackCache& cache, uint64_t first_ticks) {
  WalkResult walk;
  cache.interned_count = cache.interned_shared;  // it looks the same frames up
  const uint64_t before = os::ReadTsc();
  WalkAndIntern(start, cache, walk);
  ledger::MeterOf(ledger::CostKind::kWalkAgain).AddLong(os::ReadTsc() - before, 1);
  ledger::MeterOf(ledger::CostKind::kWalk).AddLong(first_ticks, 1);
}

constexpr uint64_t kTimedOneIn = 4;
constexpr uint64_t kTimedAgainOneIn = 32;

// As good as random: the upper bits of the product.
bool IsOneIn(uint64_t turns, uint64_t count) {
  return count * 0x9e3779b97f4a7c15u < ~uint64_t{0} / turns;
}

[[gnu::noinline, gnu::cold]] CapturedStack TimedWalkAndRemember(const FrameStart& start,
                                                               StackCache& cache) {
  const uint64_t count = cache.misses.Read();
  WalkResult walk;
  const uint64_t before = os::ReadTsc();
  const StackId stack = WalkAndIntern(start, cache, walk);
  const uint64_t walked = os::ReadTsc();
  const CapturedStack captured = Remember(start, cache, stack, walk);
  cache.walk_ticks = os::ReadTsc() - before;
  if (IsOneIn(kTimedOneIn, count)) {
    ledger::MeterOf(ledger::CostKind::kNewStack).AddLong(cache.walk_ticks, kTimedOneIn);
  }
  if (IsOneIn(kTimedAgainOneIn, count)) TimeWalkAgain(start, cache, walked - before);
  return captured;
}

}  // namespace

// Without a cache to write 128 addresses to, the stack is walked once for every 32 frames,
// outermost first: the host's stack is not ours to fill.
CapturedStack CaptureUncached(FrameStart start) {
  constexpr size_t kChunk = 32;
  uintptr_t pcs[kChunk];
  StackId stack = StackId::kNone;
  size_t end = kMaxStackDepth;
  while (end > 0) {
    StackReader reader(start.sp, nullptr);
    const WalkResult walk = WalkStack(start, reader, {pcs, kChunk, end}, nullptr);
    if (end == kMaxStackDepth) {
      CountUncached(walk);
      if (walk.cut) stack = CutRoot();
    }
    const size_t begin = walk.depth > kChunk ? walk.depth - kChunk : 0;
    for (size_t i = walk.depth; i > begin; --i) stack = InternFrame(stack, pcs[(i - 1) % kChunk]);
    end = begin;
  }
  return {stack, nullptr};
}

// Some walks are timed (ledger/cost_meter.h).
CapturedStack CaptureMiss(FrameStart start, StackCache& cache) {
  const uint64_t generation = UnwindGeneration();
  if (cache.generation != generation) StartOver(cache, generation);
  if (IsOneIn(kTimedOneIn, cache.misses.Read()) || cache.time_next_walk) {
    return TimedWalkAndRemember(start, cache);
  }
  return WalkAndRemember(start, cache);
}

StackCache* CreateStackCache() {
  void* memory = base::ArenaAllocate(sizeof(StackCache), 64);
  if (memory == nullptr) return nullptr;
  auto* cache = new (memory) StackCache;
  if (!cache->shapes.Initialise()) return nullptr;
  StackCache* first = all_caches.load(std::memory_order_relaxed);
  do {
    cache->next = first;
  } while (!all_caches.compare_exchange_weak(first, cache, std::memory_order_acq_rel));
  return cache;
}

void TakeOverStackCache(StackCache& cache) { cache.generation = StackCache::kNoGeneration; }

StackId CaptureStack(const FrameStart& start, StackCache* cache) {
  return Capture(start, cache).stack;
}

void TimeNextWalk(StackCache& cache) {
  cache.time_next_walk = true;
  cache.walk_ticks = 0;
}

uint64_t TakeWalkTicks(StackCache& cache) {
  cache.time_next_walk = false;
  return cache.walk_ticks;
}

void FlushStackCaches() { ForgetRules(); }

StackStatistics ReadStackStatistics() {
  StackStatistics sum;
  sum.misses = uncached_misses.load(std::memory_order_relaxed);
  sum.cut = uncached_cut.load(std::memory_order_relaxed);
  sum.uncovered_frames = uncached_uncovered.load(std::memory_order_relaxed);
  for (const StackCache* cache = all_caches.load(std::memory_order_acquire); cache != nullptr;
       cache = cache->next) {
    sum.hits += cache->hits.Read();
    sum.misses += cache->misses.Read();
    sum.cut += cache->cut.Read();
    sum.uncovered_frames += cache->uncovered.Read();
  }
  sum.full = StackTrieFullCount();
  return sum;
}

}  // namespace memagent::capture
