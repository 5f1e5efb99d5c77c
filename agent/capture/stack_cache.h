// What one thread remembers of its stacks, and the capture of one that it remembers: for
// recorder.cc, where each instruction counts. Everybody else calls stack_capture.h.
#ifndef MEMAGENT_AGENT_CAPTURE_STACK_CACHE_H_
#define MEMAGENT_AGENT_CAPTURE_STACK_CACHE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/capture/stack_capture.h"
#include "agent/capture/stack_memory.h"
#include "agent/capture/stack_shape.h"
#include "agent/capture/unwind_table.h"

namespace memagent::capture {

// Written by one thread, read by any: a plain load and store, no locked instruction.
class Counter {
 public:
  void Add(uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void Set(uint64_t n) { value_.store(n, std::memory_order_relaxed); }
  uint64_t Read() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

struct StackCache {
  // Of the rules that everything here came from. The cache of a thread that is gone has none.
  static constexpr uint64_t kNoGeneration = ~uint64_t{0};
  uint64_t generation = kNoGeneration;
  ShapeCache shapes;
  Counter hits;
  ProvenPages pages = {};
  Counter misses;
  Counter cut;
  Counter uncovered;
  StackCache* next = nullptr;  // all caches, for the statistics
  WalkTrail trail;
  uintptr_t pcs[kMaxStackDepth];
  // The last stack that was walked, outermost frame first, with its nodes.
  struct Interned {
    uintptr_t pc;
    StackId node;
  };
  Interned interned[kMaxStackDepth];
  size_t interned_count = 0;
  bool interned_cut = false;
  size_t interned_shared = 0;  // outer frames that it has in common with the one before
  bool time_next_walk = false;
  uint64_t walk_ticks = 0;  // of that walk
};

struct CapturedStack {
  StackId stack;
  // A word that the cache keeps with the stack for the cache's owner, 0 at first; nullptr when the
  // stack is not kept. Valid until the next capture.
  uint32_t* note;
};

// The stack is not remembered, or there is nothing to remember it in.
[[gnu::noinline]] CapturedStack CaptureMiss(FrameStart start, StackCache& cache);
[[gnu::noinline]] CapturedStack CaptureUncached(FrameStart start);

// CaptureStack, with the note.
[[gnu::always_inline]] inline CapturedStack Capture(const FrameStart& start, StackCache* cache) {
  if (cache == nullptr) [[unlikely]]
    return CaptureUncached(start);
  Shape* shape = cache->generation == UnwindGeneration() ? cache->shapes.Find(start) : nullptr;
  if (shape == nullptr) [[unlikely]]
    return CaptureMiss(start, *cache);
  cache->hits.Add(1);
  if (shape->cut) [[unlikely]]
    cache->cut.Add(1);
  return {shape->stack, &shape->note};
}

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_STACK_CACHE_H_
