#include "agent/capture/stack_shape.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "agent/base/arena.h"

namespace memagent::capture {
namespace {

// Tables of one thread: 64 KiB to start with, then 256 KiB, then 1 MiB. Of these an eighth is
// leaves (64 bytes each) and a sixteenth is sets, the rest holds about 200 bytes per shape.
constexpr unsigned kFirstLog2Leaves = 7;
constexpr unsigned kLastLog2Leaves = 11;
constexpr unsigned kGrowthLog2 = 2;
constexpr size_t kBytesPerLeaf = 512;

constexpr uint64_t kMaxPlace = ~uint32_t{0};
constexpr uint64_t kMaxProbe = 0xffff;

constexpr size_t TableBytes(unsigned log2_leaves) { return kBytesPerLeaf << log2_leaves; }

// A shape and its words, in words of storage.
constexpr size_t StorageWords(size_t word_count) {
  return sizeof(Shape) / 8 + word_count + (word_count + 1) / 2;
}

// Distance above sp, in words, of the first word in which two shapes of one leaf differ; 0: none
// below the end of either. Word 0 can't be it where it matters: sp points at the frame itself.
uint64_t FirstDifference(const Shape& a, const Shape& b) {
  uint32_t i = 0;
  uint32_t k = 0;
  while (i < a.word_count && k < b.word_count) {
    const uint32_t at_a = a.places()[i];
    const uint32_t at_b = b.places()[k];
    if (at_a == at_b && a.values()[i] != b.values()[k]) return at_a;
    if (at_a <= at_b) ++i;
    if (at_b <= at_a) ++k;
  }
  return 0;
}

// Copies the words that decide the result; false when they can't be kept: a walk that came back
// down the stack, or one of several gigabytes.
bool CopyWords(const WalkTrail& trail, uintptr_t sp, Shape& shape) {
  uint32_t count = 0;
  uintptr_t previous = sp;
  for (const WalkTrail::Word& word : std::span(trail.words, trail.count)) {
    if ((word.slot & WalkTrail::kOptional) != 0) continue;
    if (word.slot < previous || (word.slot - sp) / 8 > kMaxPlace) return false;
    previous = word.slot;
    shape.values()[count] = word.value;
    shape.places()[count++] = static_cast<uint32_t>((word.slot - sp) / 8);
  }
  for (; count < shape.word_count; ++count) {
    shape.values()[count] = shape.values()[count - 1];
    shape.places()[count] = shape.places()[count - 1];
  }
  return true;
}

}  // namespace

bool ShapeCache::Initialise() { return leaves_ != nullptr || Map(kFirstLog2Leaves); }

bool ShapeCache::Map(unsigned log2_leaves) {
  auto* block = static_cast<char*>(base::MapPages(TableBytes(log2_leaves), base::MemoryUse::kStacks));
  if (block == nullptr) return false;
  const size_t leaves = size_t{1} << log2_leaves;
  leaves_ = reinterpret_cast<ShapeLeaf*>(block);
  sets_ = reinterpret_cast<Set*>(leaves_ + leaves);
  storage_ = reinterpret_cast<uint64_t*>(sets_ + leaves);
  storage_words_ =
      (TableBytes(log2_leaves) - static_cast<size_t>(reinterpret_cast<char*>(storage_) - block)) /
      8;
  used_words_ = 1;
  log2_leaves_ = log2_leaves;
  return true;
}

void ShapeCache::Forget() {
  if (leaves_ == nullptr) return;
  std::memset(static_cast<void*>(leaves_), 0, sizeof(ShapeLeaf) << log2_leaves_);
  std::memset(static_cast<void*>(sets_), 0, sizeof(Set) * SetCount());
  used_words_ = 1;
}

// Drops the shapes but keeps what was learned about telling them apart: learning again would fill
// the storage again.
void ShapeCache::DropShapes() {
  for (ShapeLeaf& leaf : std::span(leaves_, size_t{1} << log2_leaves_)) leaf.last = 0;
  std::memset(static_cast<void*>(sets_), 0, sizeof(Set) * SetCount());
  used_words_ = 1;
}

// Moves to larger tables, without the shapes; false: largest already, or no memory.
bool ShapeCache::Grow() {
  const std::span old(leaves_, size_t{1} << log2_leaves_);
  const size_t old_bytes = TableBytes(log2_leaves_);
  if (log2_leaves_ >= kLastLog2Leaves || !Map(log2_leaves_ + kGrowthLog2)) return false;
  for (const ShapeLeaf& leaf : old) {
    if (leaf.pc == 0) continue;
    const FrameStart start{leaf.pc, leaf.sp, 0};
    ShapeLeaf& moved = MakeLeaf(start, HashStart(start));
    moved = leaf;
    moved.last = 0;
  }
  base::UnmapPages(old.data(), old_bytes, base::MemoryUse::kStacks);
  return true;
}

// Makes room for `words`, if need be by dropping all shapes; false: larger than everything.
bool ShapeCache::Reserve(size_t words) {
  if (used_words_ + words <= storage_words_) return true;
  if (!Grow()) DropShapes();
  return used_words_ + words <= storage_words_;
}

ShapeLeaf& ShapeCache::MakeLeaf(const FrameStart& start, uint64_t hash) {
  if (ShapeLeaf* leaf = FindLeaf(start, hash)) return *leaf;
  const size_t index = hash & ((size_t{1} << log2_leaves_) - 1);
  ShapeLeaf* leaf = &leaves_[index];
  if (leaf->pc != 0 && (leaves_[index ^ 1].pc == 0 || (++turn_ & 1) != 0)) {
    leaf = &leaves_[index ^ 1];
  }
  *leaf = ShapeLeaf{};
  leaf->pc = start.pc;
  leaf->sp = start.sp;
  return *leaf;
}

Shape* ShapeCache::NewShape(const FrameStart& start, const WalkTrail& trail,
                            const ProvenPages& pages) {
  uint32_t count = 0;
  uintptr_t end = start.sp;
  for (const WalkTrail::Word& word : std::span(trail.words, trail.count)) {
    if ((word.slot & WalkTrail::kOptional) != 0) continue;
    end = std::max(end, word.slot + 8);
    ++count;
  }
  const bool proven = end <= AlwaysReadableEnd(start.sp, pages);
  if (proven) count = (count + Shape::kBatch - 1) / Shape::kBatch * Shape::kBatch;
  const size_t words = StorageWords(count);
  if (!Reserve(words)) return nullptr;
  Shape* shape = At(static_cast<uint32_t>(used_words_));
  const uint64_t fp_mask = trail.start_fp_used ? ~uint64_t{0} : 0;
  *shape = Shape{start.pc, start.sp, start.fp, fp_mask, StackId::kNone, 0, count, false, proven};
  if (!CopyWords(trail, start.sp, *shape)) return nullptr;
  used_words_ += words;
  return shape;
}

// When another shape of this leaf has the same probe words, hashes one more word from now on.
// Shapes added before are then not found any more; they are walked and added once again.
void ShapeCache::LearnProbe(ShapeLeaf& leaf, uint64_t probe_hash, const Shape& added,
                            const ProvenPages& pages) {
  if (leaf.probe_count == ShapeLeaf::kMaxProbes) return;
  const Set& set = SetOf(probe_hash);
  for (size_t i = 0; i < kWays; ++i) {
    if (set.tags[i] != TagOf(probe_hash)) continue;
    const Shape& other = *At(set.shapes[i]);
    if (other.pc != added.pc || other.sp != added.sp) continue;
    const uint64_t place = FirstDifference(other, added);
    if (place == 0 || place > kMaxProbe) continue;
    if (added.sp + place * 8 + 8 > AlwaysReadableEnd(added.sp, pages)) continue;
    leaf.probes[leaf.probe_count++] = static_cast<uint16_t>(place);
    return;
  }
}

Shape* ShapeCache::Insert(const FrameStart& start, const WalkTrail& trail, const ProvenPages& pages,
                          StackId stack, bool cut) {
  if (leaves_ == nullptr || !trail.repeatable || (start.sp & 7) != 0) return nullptr;
  Shape* shape = NewShape(start, trail, pages);
  if (shape == nullptr) return nullptr;
  shape->stack = stack;
  shape->cut = cut;
  const uint64_t hash = HashStart(start);
  ShapeLeaf& leaf = MakeLeaf(start, hash);
  leaf.last = IndexOf(*shape);
  LearnProbe(leaf, HashProbes(start, leaf, hash), *shape, pages);
  const uint64_t probe_hash = HashProbes(start, leaf, hash);
  Set& set = SetOf(probe_hash);
  size_t victim = ++turn_ % kWays;
  for (size_t i = 0; i < kWays; ++i) {
    if (set.tags[i] == 0) victim = i;
  }
  set.tags[victim] = TagOf(probe_hash);
  set.shapes[victim] = leaf.last;
  return shape;
}

}  // namespace memagent::capture
