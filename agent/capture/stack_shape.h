// Verified shapes: how a stack that was seen before is recognised without unwinding it.
//
// Unwinding is a function of (pc, sp, rbp) and of the words it reads. A shape holds the stack id
// that came out, and those words: when the start is the same and every word is the same, the
// result is the same. On the thread's own stack all of them are known to be readable and are
// compared four at a time. Elsewhere they are compared from the innermost frame outwards with early
// exit, so that a comparison reads only live frames up to the first difference. Checking return
// addresses alone up to the first known one would be wrong: two call sites in one caller differ
// only further out.
//
//   leaf (pc, sp) ──► its only shape ──equal?──► stack id                     one stack so far
//        └─ probe words ─► hash ─► set of 4 (tag, shape) ──equal?──► stack id      one of many
//
// Probe words are learned: when two shapes of one leaf fall into the same set, a word in which
// they differ is added to the leaf's hash. One cache belongs to one thread.
#ifndef MEMAGENT_AGENT_CAPTURE_STACK_SHAPE_H_
#define MEMAGENT_AGENT_CAPTURE_STACK_SHAPE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "agent/base/types.h"
#include "agent/capture/stack_memory.h"
#include "agent/capture/stack_walk.h"

namespace memagent::capture {

// Followed by its words: first their values, then their places, in words above sp.
struct Shape {
  uint64_t pc;
  uint64_t sp;
  uint64_t fp;
  uint64_t fp_mask;  // all ones when the result depends on fp, else 0
  StackId stack;
  uint32_t note;        // CapturedStack::note
  uint32_t word_count;  // a multiple of kBatch when `proven`: the last word stands there again
  bool cut;
  bool proven;  // the words can be read whenever a frame of this thread starts at sp

  static constexpr uint32_t kBatch = 4;

  uint64_t* values() { return reinterpret_cast<uint64_t*>(this + 1); }
  const uint64_t* values() const { return reinterpret_cast<const uint64_t*>(this + 1); }
  uint32_t* places() { return reinterpret_cast<uint32_t*>(values() + word_count); }
  const uint32_t* places() const {
    return reinterpret_cast<const uint32_t*>(values() + word_count);
  }
};

// What is known about all stacks that start at one (pc, sp): a cache line.
struct alignas(64) ShapeLeaf {
  static constexpr size_t kMaxProbes = 18;
  uint64_t pc;
  uint64_t sp;
  uint32_t last;  // index of the shape added last, 0: none
  uint32_t probe_count;
  uint16_t probes[kMaxProbes];  // words above sp
};
static_assert(sizeof(ShapeLeaf) == 64);

class ShapeCache {
 public:
  // Maps the smallest tables; false without memory. A cache that has no tables finds nothing.
  bool Initialise();

  // The shape that matches the stack above `start`, or nullptr.
  Shape* Find(const FrameStart& start) const;

  // Adds what a walk found. Grows the tables or starts over when they are full. nullptr when the
  // stack can't be kept.
  Shape* Insert(const FrameStart& start, const WalkTrail& trail, const ProvenPages& pages,
                StackId stack, bool cut);

  void Forget();

 private:
  // Shapes whose probe words have one hash. A tag is odd; 0: empty.
  static constexpr size_t kWays = 4;
  struct Set {
    uint32_t tags[kWays];
    uint32_t shapes[kWays];
  };
  static uint32_t TagOf(uint64_t probe_hash) { return static_cast<uint32_t>(probe_hash >> 32) | 1; }

  bool Map(unsigned log2_leaves);
  bool Grow();
  void DropShapes();
  ShapeLeaf* FindLeaf(const FrameStart& start, uint64_t hash) const;
  ShapeLeaf& MakeLeaf(const FrameStart& start, uint64_t hash);
  Shape* NewShape(const FrameStart& start, const WalkTrail& trail, const ProvenPages& pages);
  void LearnProbe(ShapeLeaf& leaf, uint64_t probe_hash, const Shape& added,
                  const ProvenPages& pages);
  Set& SetOf(uint64_t probe_hash) const { return sets_[probe_hash & (SetCount() - 1)]; }
  size_t SetCount() const { return size_t{1} << log2_leaves_; }
  Shape* At(uint32_t index) const { return reinterpret_cast<Shape*>(storage_ + index); }
  uint32_t IndexOf(const Shape& shape) const {
    return static_cast<uint32_t>(reinterpret_cast<const uint64_t*>(&shape) - storage_);
  }
  bool Reserve(size_t words);

  ShapeLeaf* leaves_ = nullptr;
  Set* sets_ = nullptr;
  uint64_t* storage_ = nullptr;  // word 0 is not used: index 0 means none
  size_t used_words_ = 0;
  size_t storage_words_ = 0;
  unsigned log2_leaves_ = 0;
  uint32_t turn_ = 0;  // which entry of a full set is replaced next
};

inline constexpr uint64_t kShapeMix = 0x9e3779b97f4a7c15;

// One unrelated multiplier for each probe: the two return addresses of a two-way branch often
// differ by the same distance on every level, so related multipliers would collide.
constexpr std::array<uint64_t, ShapeLeaf::kMaxProbes> MakeProbeMultipliers() {
  std::array<uint64_t, ShapeLeaf::kMaxProbes> result{};
  uint64_t state = kShapeMix;
  for (uint64_t& multiplier : result) {
    state = (state ^ state >> 29) * uint64_t{0xbf58476d1ce4e5b9};
    multiplier = state | 1;
  }
  return result;
}
inline constexpr auto kProbeMultipliers = MakeProbeMultipliers();

inline uint64_t HashStart(const FrameStart& start) {
  const uint64_t hash = (start.pc * kShapeMix) ^ (start.sp * uint64_t{0xff51afd7ed558ccd});
  return hash ^ hash >> 32;
}

inline uint64_t HashProbes(const FrameStart& start, const ShapeLeaf& leaf, uint64_t hash) {
  for (uint32_t i = 0; i < leaf.probe_count; ++i) {
    hash += LoadWord(start.sp + leaf.probes[i] * uintptr_t{8}) * kProbeMultipliers[i];
  }
  hash *= kShapeMix;
  return hash ^ hash >> 32;
}

// Whether words [i, i + kBatch) are on the stack as the shape has them.
[[gnu::always_inline]] inline bool BatchMatches(const Shape& shape, uint32_t i, uintptr_t sp) {
  const uint64_t* value = shape.values() + i;
  const uint32_t* place = shape.places() + i;
  const auto difference = [=](int k) { return LoadWord(sp + place[k] * uintptr_t{8}) ^ value[k]; };
  return (difference(0) | difference(1) | difference(2) | difference(3)) == 0;
}

[[gnu::always_inline]] inline bool Matches(const Shape& shape, const FrameStart& start) {
  if (((shape.pc ^ start.pc) | (shape.sp ^ start.sp) | ((shape.fp ^ start.fp) & shape.fp_mask)) !=
      0) {
    return false;
  }
  uint32_t i = 0;
  if (shape.proven) [[likely]] {
    while (i < shape.word_count && BatchMatches(shape, i, start.sp)) i += Shape::kBatch;
  } else {
    const auto equal = [&](uint32_t k) {
      return LoadWord(start.sp + shape.places()[k] * uintptr_t{8}) == shape.values()[k];
    };
    while (i < shape.word_count && equal(i)) ++i;
  }
  return i >= shape.word_count;
}

inline ShapeLeaf* ShapeCache::FindLeaf(const FrameStart& start, uint64_t hash) const {
  const size_t index = hash & ((size_t{1} << log2_leaves_) - 1);
  ShapeLeaf* leaf = &leaves_[index];
  if (leaf->pc == start.pc && leaf->sp == start.sp) [[likely]]
    return leaf;
  leaf = &leaves_[index ^ 1];
  return leaf->pc == start.pc && leaf->sp == start.sp ? leaf : nullptr;
}

[[gnu::always_inline]] inline Shape* ShapeCache::Find(const FrameStart& start) const {
  if (leaves_ == nullptr) [[unlikely]]
    return nullptr;
  const uint64_t hash = HashStart(start);
  const ShapeLeaf* leaf = FindLeaf(start, hash);
  if (leaf == nullptr) return nullptr;
  if (leaf->probe_count == 0 && leaf->last != 0 && Matches(*At(leaf->last), start)) {
    return At(leaf->last);
  }
  const uint64_t probe_hash = HashProbes(start, *leaf, hash);
  const Set& set = SetOf(probe_hash);
  const auto candidate = [&](unsigned way) {
    return static_cast<unsigned>(set.tags[way] == TagOf(probe_hash)) << way;
  };
  unsigned candidates = candidate(0) | candidate(1) | candidate(2) | candidate(3);
  for (; candidates != 0; candidates &= candidates - 1) {
    Shape* shape = At(set.shapes[__builtin_ctz(candidates)]);
    if (Matches(*shape, start)) return shape;
  }
  return nullptr;
}

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_STACK_SHAPE_H_
