// The call stack of an allocation, as an id. Called by the hooks on every allocation.
//
// Neither malloc, nor the loader's lock, nor a TLS variable, nor a signal; errno stays. A stack
// seen before costs about 1 ns a frame (stack_shape.h), a new one about 10 ns a frame plus 300 ns
// for each code address met for the first time. Uses less than 2 KiB of the host's stack.
#ifndef MEMAGENT_AGENT_CAPTURE_STACK_CAPTURE_H_
#define MEMAGENT_AGENT_CAPTURE_STACK_CAPTURE_H_

#include <cstdint>

#include "agent/base/types.h"
#include "agent/capture/stack_trie.h"
#include "agent/capture/stack_walk.h"

namespace memagent::capture {

// What one thread remembers of its stacks. Not re-entrant: a signal handler that interrupts a
// capture must not capture with the same cache (the hooks' guard sees to it).
struct StackCache;

// About 75 KiB of address space, growing to 1 MiB; nullptr without memory. Never freed; may be
// handed to another thread when its owner is gone. Calling thread: any.
StackCache* CreateStackCache();

// The stack that begins at `start`, which must be a live frame of the calling thread. `cache`
// may be null: slower, same answer.
StackId CaptureStack(const FrameStart& start, StackCache* cache);

// The owner of the cache is gone: the calling thread may use it.
void TakeOverStackCache(StackCache& cache);

// To be called before and after dlclose, and after dlopen where it is known: rules and shapes
// are forgotten by all threads. Lock-free. Calling thread: any.
void FlushStackCaches();

// The cache's next walk is timed; and what walks took since then, in ticks of the time-stamp
// counter. Owner thread.
void TimeNextWalk(StackCache& cache);
uint64_t TakeWalkTicks(StackCache& cache);

// Sums over all threads, exact when no capture is running.
struct StackStatistics {
  uint64_t hits = 0;              // recognised by shape
  uint64_t misses = 0;            // walked
  uint64_t cut = 0;               // of all captures: stacks whose outer callers are missing
  uint64_t uncovered_frames = 0;  // frames whose unwind information could not be used
  uint64_t full = 0;              // frames that found no room in the trie
};
StackStatistics ReadStackStatistics();

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_STACK_CAPTURE_H_
