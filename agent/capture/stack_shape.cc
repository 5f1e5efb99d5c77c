#include "agent/capture/stack_shape.h"

#include <array>
#include <cstring>
#include <initializer_list>
#include <span>

#include "agent/base/arena.h"

namespace memagent::capture {
namespace {

// Tables of one thread: 64 KiB to start with, then 256 KiB, then 1 MiB. Of these an eighth is
// leaves (64 bytes each) and a sixteenth is ways, the rest holds about 150 bytes per shape.
constexpr unsigned kFirstLog2Leaves = 7;
constexpr unsigned kLastLog2Leaves = 11;
constexpr unsigned kGrowthLog2 = 2;
constexpr size_t kBytesPerLeaf = 512;
constexpr size_t kWaysPerLeaf = 4;

constexpr unsigned kWordBits = 48;
constexpr uint64_t kWordMask = (uint64_t{1} << kWordBits) - 1;
constexpr uint64_t kMaxDelta = 0xffff;

constexpr size_t TableBytes(unsigned log2_leaves) { return kBytesPerLeaf << log2_leaves; }

constexpr uint64_t kMix = 0x9e3779b97f4a7c15;

// One unrelated multiplier for each probe: the two return addresses of a two-way branch often
// differ by the same distance on every level, so related multipliers would collide.
constexpr std::array<uint64_t, ShapeLeaf::kMaxProbes> MakeMultipliers() {
  std::array<uint64_t, ShapeLeaf::kMaxProbes> result{};
  uint64_t state = kMix;
  for (uint64_t& multiplier : result) {
    state = (state ^ state >> 29) * uint64_t{0xbf58476d1ce4e5b9};
    multiplier = state | 1;
  }
  return result;
}
constexpr auto kMultipliers = MakeMultipliers();

uint64_t HashStart(const FrameStart& start) {
  const uint64_t hash = (start.pc * kMix) ^ (start.sp * uint64_t{0xff51afd7ed558ccd});
  return hash ^ hash >> 32;
}

uint64_t HashProbes(const FrameStart& start, const ShapeLeaf& leaf, uint64_t hash) {
  for (uint32_t i = 0; i < leaf.probe_count; ++i) {
    hash += LoadWord(start.sp + leaf.probes[i] * uintptr_t{8}) * kMultipliers[i];
  }
  hash *= kMix;
  return hash ^ hash >> 32;
}

__attribute__((no_sanitize("address", "thread", "undefined"))) bool Matches(
    const Shape& shape, const FrameStart& start) {
  if (((shape.pc ^ start.pc) | (shape.sp ^ start.sp) | ((shape.fp ^ start.fp) & shape.fp_mask)) !=
      0) {
    return false;
  }
  const auto* slot = reinterpret_cast<const volatile uint64_t*>(start.sp);
  const uint64_t* const end = shape.words() + shape.word_count;
  for (const uint64_t* word = shape.words(); word != end; ++word) {
    slot += *word >> kWordBits;
    if (*slot != (*word & kWordMask)) return false;
  }
  return true;
}

// Distance above sp, in words, of the first word in which two shapes of one leaf differ; 0: none
// below the end of either. Word 0 can't be it where it matters: sp points at the frame itself.
uint64_t FirstDifference(const Shape& a, const Shape& b) {
  uint64_t at_a = 0;
  uint64_t at_b = 0;
  uint32_t i = 0;
  uint32_t k = 0;
  while (i < a.word_count && k < b.word_count) {
    const uint64_t next_a = at_a + (a.words()[i] >> kWordBits);
    const uint64_t next_b = at_b + (b.words()[k] >> kWordBits);
    if (next_a == next_b && ((a.words()[i] ^ b.words()[k]) & kWordMask) != 0) return next_a;
    if (next_a <= next_b) {
      at_a = next_a;
      ++i;
    }
    if (next_b <= next_a) {
      at_b = next_b;
      ++k;
    }
  }
  return 0;
}

}  // namespace

bool ShapeCache::Initialise() { return leaves_ != nullptr || Map(kFirstLog2Leaves); }

bool ShapeCache::Map(unsigned log2_leaves) {
  auto* block = static_cast<char*>(base::MapPages(TableBytes(log2_leaves), base::MemoryUse::kStacks));
  if (block == nullptr) return false;
  const size_t leaves = size_t{1} << log2_leaves;
  leaves_ = reinterpret_cast<ShapeLeaf*>(block);
  ways_ = reinterpret_cast<Way*>(leaves_ + leaves);
  storage_ = reinterpret_cast<uint64_t*>(ways_ + leaves * kWaysPerLeaf);
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
  std::memset(static_cast<void*>(ways_), 0, (kWaysPerLeaf * sizeof(Way)) << log2_leaves_);
  used_words_ = 1;
}

// Drops the shapes but keeps what was learned about telling them apart: learning again would fill
// the storage again.
void ShapeCache::DropShapes() {
  for (ShapeLeaf& leaf : std::span(leaves_, size_t{1} << log2_leaves_)) leaf.last = 0;
  std::memset(static_cast<void*>(ways_), 0, (kWaysPerLeaf * sizeof(Way)) << log2_leaves_);
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

ShapeLeaf* ShapeCache::FindLeaf(const FrameStart& start, uint64_t hash) const {
  const size_t index = hash & ((size_t{1} << log2_leaves_) - 1);
  for (ShapeLeaf* leaf : {&leaves_[index], &leaves_[index ^ 1]}) {
    if (leaf->pc == start.pc && leaf->sp == start.sp) return leaf;
  }
  return nullptr;
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

ShapeCache::Way* ShapeCache::SetOf(uint64_t probe_hash) const {
  const size_t sets = (kWaysPerLeaf << log2_leaves_) / kWays;
  return ways_ + (probe_hash & (sets - 1)) * kWays;
}

const Shape* ShapeCache::Find(const FrameStart& start) {
  const uint64_t hash = HashStart(start);
  ShapeLeaf* leaf = FindLeaf(start, hash);
  if (leaf == nullptr || leaf->last == 0) return nullptr;
  const Shape* last = At(leaf->last);
  if (Matches(*last, start)) return last;
  return FindOther(start, *leaf, hash);
}

const Shape* ShapeCache::FindOther(const FrameStart& start, ShapeLeaf& leaf, uint64_t hash) {
  const uint64_t probe_hash = HashProbes(start, leaf, hash);
  Way* set = SetOf(probe_hash);
  for (size_t i = 0; i < kWays; ++i) {
    if (set[i].tag != probe_hash >> 32 || set[i].shape == 0) continue;
    if (!Matches(*At(set[i].shape), start)) continue;
    leaf.last = set[i].shape;
    return At(set[i].shape);
  }
  return nullptr;
}

Shape* ShapeCache::NewShape(const FrameStart& start, const WalkTrail& trail, StackId stack,
                            bool cut) {
  if (!Reserve(sizeof(Shape) / 8 + trail.count)) return nullptr;
  Shape* shape = At(static_cast<uint32_t>(used_words_));
  const uint64_t fp_mask = trail.start_fp_used ? ~uint64_t{0} : 0;
  *shape = Shape{start.pc, start.sp, start.fp, fp_mask, stack, 0, cut};
  uintptr_t previous = start.sp;
  for (const WalkTrail::Word& word : std::span(trail.words, trail.count)) {
    if ((word.slot & WalkTrail::kOptional) != 0) continue;
    const uint64_t delta = (word.slot - previous) / 8;
    if (word.slot < previous || delta > kMaxDelta || word.value > kWordMask) return nullptr;
    shape->words()[shape->word_count++] = word.value | delta << kWordBits;
    previous = word.slot;
  }
  used_words_ += sizeof(Shape) / 8 + shape->word_count;
  return shape;
}

// When another shape of this leaf has the same probe words, hashes one more word from now on.
// Shapes added before are then not found any more; they are walked and added once again.
void ShapeCache::LearnProbe(ShapeLeaf& leaf, uint64_t probe_hash, const Shape& added,
                            const ProvenPages& pages) {
  if (leaf.probe_count == ShapeLeaf::kMaxProbes) return;
  const Way* set = SetOf(probe_hash);
  for (size_t i = 0; i < kWays; ++i) {
    if (set[i].tag != probe_hash >> 32 || set[i].shape == 0) continue;
    const Shape& other = *At(set[i].shape);
    if (other.pc != added.pc || other.sp != added.sp) continue;
    const uint64_t offset = FirstDifference(other, added);
    if (offset == 0 || offset > kMaxDelta) continue;
    if (added.sp + offset * 8 + 8 > AlwaysReadableEnd(added.sp, pages)) continue;
    leaf.probes[leaf.probe_count++] = static_cast<uint16_t>(offset);
    return;
  }
}

void ShapeCache::Insert(const FrameStart& start, const WalkTrail& trail, const ProvenPages& pages,
                        StackId stack, bool cut) {
  if (leaves_ == nullptr || !trail.repeatable || (start.sp & 7) != 0) return;
  const Shape* shape = NewShape(start, trail, stack, cut);
  if (shape == nullptr) return;
  const uint64_t hash = HashStart(start);
  ShapeLeaf& leaf = MakeLeaf(start, hash);
  leaf.last = IndexOf(*shape);
  LearnProbe(leaf, HashProbes(start, leaf, hash), *shape, pages);
  const uint64_t probe_hash = HashProbes(start, leaf, hash);
  Way* set = SetOf(probe_hash);
  size_t victim = ++turn_ % kWays;
  for (size_t i = 0; i < kWays; ++i) {
    if (set[i].shape == 0) victim = i;
  }
  set[victim] = {static_cast<uint32_t>(probe_hash >> 32), leaf.last};
}

}  // namespace memagent::capture
