// Verified shapes: how a stack that was seen before is recognised without unwinding it.
//
// Unwinding is a function of (pc, sp, rbp) and of the words it reads. A shape holds the stack id
// that came out, and those words: when the start is the same and every word is the same, the
// result is the same. Words are compared from the innermost frame outwards with early exit, so
// a comparison reads only what the unwinder itself would read; on the thread's own stack that
// memory is proven, elsewhere it holds live frames up to the first difference. Checking return
// addresses alone up to the first known one would be wrong: two call sites in one caller differ
// only further out.
//
//   leaf (pc, sp) ──► last shape ──equal?──► stack id                       the same stack again
//        └─ probe words ─► hash ─► set of 4 (tag, shape) ──equal?──► stack id      one of many
//
// Probe words are learned: when two shapes of one leaf fall into the same set, a word in which
// they differ is added to the leaf's hash. One cache belongs to one thread.
#ifndef MEMAGENT_AGENT_CAPTURE_STACK_SHAPE_H_
#define MEMAGENT_AGENT_CAPTURE_STACK_SHAPE_H_

#include <cstddef>
#include <cstdint>

#include "agent/base/types.h"
#include "agent/capture/stack_memory.h"
#include "agent/capture/stack_walk.h"

namespace memagent::capture {

// Followed by its words: low 48 bits the expected value, high 16 how many words further up than
// the one before (the first counts from sp).
struct Shape {
  uint64_t pc;
  uint64_t sp;
  uint64_t fp;
  uint64_t fp_mask;  // all ones when the result depends on fp, else 0
  StackId stack;
  uint32_t word_count;
  bool cut;

  uint64_t* words() { return reinterpret_cast<uint64_t*>(this + 1); }
  const uint64_t* words() const { return reinterpret_cast<const uint64_t*>(this + 1); }
};

// What is known about all stacks that start at one (pc, sp): a cache line.
struct alignas(64) ShapeLeaf {
  static constexpr size_t kMaxProbes = 18;
  uint64_t pc;
  uint64_t sp;
  uint32_t last;  // index of the shape found last, 0: none
  uint32_t probe_count;
  uint16_t probes[kMaxProbes];  // words above sp
};
static_assert(sizeof(ShapeLeaf) == 64);

class ShapeCache {
 public:
  // Maps the smallest tables; false without memory. A cache that has no tables finds nothing.
  bool Initialise();

  // The shape that matches the stack above `start`, or nullptr.
  const Shape* Find(const FrameStart& start);

  // Adds what a walk found. Grows the tables or starts over when they are full.
  void Insert(const FrameStart& start, const WalkTrail& trail, const ProvenPages& pages,
              StackId stack, bool cut);

  void Forget();

 private:
  struct Way {
    uint32_t tag;
    uint32_t shape;  // 0: empty
  };
  static constexpr size_t kWays = 4;

  bool Map(unsigned log2_leaves);
  bool Grow();
  void DropShapes();
  const Shape* FindOther(const FrameStart& start, ShapeLeaf& leaf, uint64_t hash);
  ShapeLeaf* FindLeaf(const FrameStart& start, uint64_t hash) const;
  ShapeLeaf& MakeLeaf(const FrameStart& start, uint64_t hash);
  Shape* NewShape(const FrameStart& start, const WalkTrail& trail, StackId stack, bool cut);
  void LearnProbe(ShapeLeaf& leaf, uint64_t probe_hash, const Shape& added,
                  const ProvenPages& pages);
  Way* SetOf(uint64_t probe_hash) const;
  Shape* At(uint32_t index) const { return reinterpret_cast<Shape*>(storage_ + index); }
  uint32_t IndexOf(const Shape& shape) const {
    return static_cast<uint32_t>(reinterpret_cast<const uint64_t*>(&shape) - storage_);
  }
  bool Reserve(size_t words);

  ShapeLeaf* leaves_ = nullptr;
  Way* ways_ = nullptr;
  uint64_t* storage_ = nullptr;  // word 0 is not used: index 0 means none
  size_t used_words_ = 0;
  size_t storage_words_ = 0;
  unsigned log2_leaves_ = 0;
  uint32_t turn_ = 0;  // which entry of a full set is replaced next
};

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_STACK_SHAPE_H_
