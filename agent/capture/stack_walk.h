// Walks the stack of the calling thread by compiled rules, and writes down which words decided
// the result.
#ifndef MEMAGENT_AGENT_CAPTURE_STACK_WALK_H_
#define MEMAGENT_AGENT_CAPTURE_STACK_WALK_H_

#include <cstddef>
#include <cstdint>

#include "agent/capture/stack_memory.h"
#include "agent/capture/unwind_rule.h"

namespace memagent::capture {

inline constexpr size_t kMaxStackDepth = 128;

// The frame that a walk starts with: the hook's caller, right after the hook returned.
struct FrameStart {
  uintptr_t pc = 0;  // return address
  uintptr_t sp = 0;  // value right after the return
  uintptr_t fp = 0;  // its rbp (x29)
};

// Every word the walk read, in reading order. A saved rbp is `optional` until a later frame's CFA
// is computed from it: a saved rbp nobody uses may change without changing the stack.
struct WalkTrail {
  struct Word {
    uintptr_t slot;  // address; bit 0 set: optional
    uintptr_t value;
  };
  static constexpr uintptr_t kOptional = 1;

  Word words[kMaxStackDepth * 3];
  uint32_t count = 0;
  bool start_fp_used = false;
  bool repeatable = true;  // false: the result depends on more than these words
};

// Where a walk writes return addresses, innermost first: frame i goes to pcs[i % size], so that a
// small array keeps the outermost frames. `size` is a power of two. The walk stops after `limit`.
struct FrameSink {
  uintptr_t* pcs;
  size_t size;
  size_t limit = kMaxStackDepth;
};

struct WalkResult {
  size_t depth = 0;      // frames walked
  size_t uncovered = 0;  // frames whose unwind information could not be used
  bool cut = false;      // there are callers that were not walked
};

// The address of an instruction that a signal interrupted is written plus one, so that for every
// entry "minus one" is inside the instruction. `trail` may be null. Calling thread: the one whose
// stack it is.
WalkResult WalkStack(const FrameStart& start, StackReader& reader, const FrameSink& sink,
                     WalkTrail* trail);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_STACK_WALK_H_
