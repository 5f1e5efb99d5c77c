#include "agent/capture/stack_trie.h"

#include <atomic>

#include "agent/base/arena.h"
#include "agent/capture/unwind_objects.h"

namespace memagent::capture {
namespace {

// Parent, the low half of pc, and the high half with flags. The flags are stored last, with
// release: a reader that sees kReady sees the rest. `first_child` is set once: most nodes have one
// child only, and that one is found without the hash table (of 960,000 nodes of a clang run about
// one in six is in the table). New nodes of one stack are neighbours in memory.
struct alignas(16) Node {
  std::atomic<uint32_t> parent;
  std::atomic<uint32_t> pc_low;
  std::atomic<uint32_t> pc_high_and_flags;
  std::atomic<uint32_t> first_child;
};
constexpr uint32_t kReady = uint32_t{1} << 31;
constexpr uint32_t kCut = uint32_t{1} << 30;
constexpr uint32_t kPcHighMask = 0xffff;
// 0, or the identity of the library that the frame was in when that was unloaded.
constexpr unsigned kRetiredShift = 16;
constexpr uint32_t kRetiredMask = kUnknownCode << kRetiredShift;

constexpr uint32_t kChunkNodes = uint32_t{1} << 16;
constexpr size_t kChunks = (size_t{kMaxStackNodes} + kChunkNodes) / kChunkNodes;
constinit std::atomic<Node*> chunks[kChunks] = {};
constinit std::atomic<uint32_t> node_count{0};
constinit std::atomic<uint64_t> full_count{0};

// The hash table grows by levels instead of moving: buckets of 8 slots, each level 16 times the
// last (64 KiB, 1 MiB, 16 MiB). A frame lives in the first level whose bucket had room, so old
// frames (the outer ones, in every stack) are found in the first cache line. Slots are never
// emptied, so an empty slot proves absence from its level and from all later ones.
constexpr size_t kBucketSlots = 8;
constexpr size_t kLevels = 3;
constexpr unsigned kFirstLevelBits = 14;
constexpr unsigned kLevelGrowthBits = 4;
// The last level has nowhere to overflow to: there a frame may also be in the next buckets. A full
// trie fills at most half of its slots; a run of 64 full buckets does not happen.
constexpr size_t kLastLevelBuckets = 64;
constinit std::atomic<std::atomic<uint32_t>*> levels[kLevels] = {};

// A slot: node id, and 11 bits of the hash that spare most look-ups of other frames' nodes.
constexpr unsigned kIdBits = 21;
constexpr uint32_t kIdMask = (uint32_t{1} << kIdBits) - 1;

// One multiplication away from the parent's id, because walking down the trie waits for it. The
// upper bits of the sum of two multiplicative hashes are well mixed; only they are used.
constexpr uint64_t HashFrame(uint32_t parent, uintptr_t pc) {
  return pc * uint64_t{0xff51afd7ed558ccd} + parent * uint64_t{0x9e3779b97f4a7c15};
}
constexpr uint32_t TagOf(uint64_t hash) {
  return static_cast<uint32_t>(hash >> 21) & ~kIdMask;  // bits 42..52
}
constexpr size_t FirstSlotOf(uint64_t hash) { return hash >> 38; }
constexpr size_t BucketOf(uint64_t hash, unsigned slot_bits) {
  return hash >> (64 - slot_bits + 3);
}

constexpr unsigned LevelBits(size_t level) {
  return kFirstLevelBits + kLevelGrowthBits * static_cast<unsigned>(level);
}

// Maps the block behind `where` when it is the first to need it; nullptr: no memory.
template <typename T>
[[gnu::noinline, gnu::cold]] T* MapOnce(std::atomic<T*>& where, size_t size) {
  auto* fresh = static_cast<T*>(base::MapPages(size, base::MemoryUse::kStacks));
  T* current = nullptr;
  if (fresh == nullptr) return where.load(std::memory_order_acquire);
  if (where.compare_exchange_strong(current, fresh, std::memory_order_acq_rel)) return fresh;
  base::UnmapPages(fresh, size, base::MemoryUse::kStacks);
  return current;
}

std::atomic<uint32_t>* LevelAt(size_t level) {
  std::atomic<uint32_t>* slots = levels[level].load(std::memory_order_acquire);
  if (slots != nullptr) return slots;
  return MapOnce(levels[level], sizeof(uint32_t) << LevelBits(level));
}

Node* NodeAt(uint32_t id) {
  if (id == 0 || id > kMaxStackNodes) return nullptr;
  Node* chunk = chunks[id / kChunkNodes].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : chunk + id % kChunkNodes;
}

// All of a node's words; false when it is not there (yet).
struct NodeValue {
  uint32_t parent;
  uintptr_t pc;
  bool cut;
  uint32_t retired;
};
bool Read(uint32_t id, NodeValue& value) {
  const Node* node = NodeAt(id);
  if (node == nullptr) return false;
  const uint32_t high = node->pc_high_and_flags.load(std::memory_order_acquire);
  if ((high & kReady) == 0) return false;
  value.parent = node->parent.load(std::memory_order_relaxed);
  value.pc = uint64_t{high & kPcHighMask} << 32 | node->pc_low.load(std::memory_order_relaxed);
  value.cut = (high & kCut) != 0;
  value.retired = (high & kRetiredMask) >> kRetiredShift;
  return true;
}

// The marker has pc 0, which no frame has: a walk ends at a zero return address.
bool IsMarker(const NodeValue& value) { return value.pc == 0; }

// Writes a new node; 0 when there is no room.
uint32_t NewNode(uint32_t parent, uintptr_t pc) {
  if (node_count.load(std::memory_order_relaxed) >= kMaxStackNodes) return 0;
  const uint32_t id = node_count.fetch_add(1, std::memory_order_relaxed) + 1;
  if (id > kMaxStackNodes) return 0;
  Node* node = NodeAt(id);
  if (node == nullptr) {
    Node* chunk = MapOnce(chunks[id / kChunkNodes], kChunkNodes * sizeof(Node));
    if (chunk == nullptr) return 0;
    node = chunk + id % kChunkNodes;
  }
  NodeValue above{};
  const bool cut = pc == 0 || (parent != 0 && Read(parent, above) && above.cut);
  node->parent.store(parent, std::memory_order_relaxed);
  node->pc_low.store(static_cast<uint32_t>(pc), std::memory_order_relaxed);
  const uint32_t high = static_cast<uint32_t>(pc >> 32) & kPcHighMask;
  node->pc_high_and_flags.store(high | kReady | (cut ? kCut : 0), std::memory_order_release);
  return id;
}

// Instead of an id: the frame is nowhere and there is no room for its node.
constexpr uint32_t kNoRoom = ~uint32_t{0};

// A retired frame is looked up again: it comes back when its library does.
[[gnu::noinline, gnu::cold]] bool ComesBack(uint32_t id, const NodeValue& value) {
  if (value.retired == kUnknownCode || CodeIdentity(value.pc - 1) != value.retired) return false;
  NodeAt(id)->pc_high_and_flags.fetch_and(~kRetiredMask, std::memory_order_acq_rel);
  return true;
}

bool IsNode(uint32_t id, uint32_t parent, uintptr_t pc) {
  NodeValue value{};
  if (!Read(id, value) || value.parent != parent || value.pc != pc) return false;
  return value.retired == 0 || ComesBack(id, value);
}

// Takes the place of `parent`'s first child for `pc`, or finds that it is `pc`'s already. Returns
// the id; 0 when the place belongs to another frame; kNoRoom when there is no room for a node.
// `fresh` is the node made for the frame, if any so far.
uint32_t FindOrAddFirstChild(uint32_t parent, uintptr_t pc, uint32_t& fresh) {
  Node* node = NodeAt(parent);
  if (node == nullptr) return 0;
  uint32_t child = node->first_child.load(std::memory_order_acquire);
  if (child == 0) {
    fresh = NewNode(parent, pc);
    if (fresh == 0) return kNoRoom;
    if (node->first_child.compare_exchange_strong(child, fresh, std::memory_order_acq_rel)) {
      return fresh;
    }
  }
  return IsNode(child, parent, pc) ? child : 0;
}

// Looks in one bucket, and adds to it when it has room. `fresh` is the node made for the frame, if
// any so far. Returns the id, or 0 when the bucket is full of others, or kNoRoom.
uint32_t FindOrAdd(std::atomic<uint32_t>* bucket, uint64_t hash, uint32_t parent, uintptr_t pc,
                   uint32_t& fresh) {
  for (size_t i = 0; i < kBucketSlots; ++i) {
    std::atomic<uint32_t>& slot = bucket[(FirstSlotOf(hash) + i) % kBucketSlots];
    uint32_t seen = slot.load(std::memory_order_acquire);
    if (seen == 0) {
      if (fresh == 0) fresh = NewNode(parent, pc);
      if (fresh == 0) return kNoRoom;
      if (slot.compare_exchange_strong(seen, fresh | TagOf(hash), std::memory_order_acq_rel)) {
        return fresh;
      }
    }
    if ((seen & ~kIdMask) == TagOf(hash) && IsNode(seen & kIdMask, parent, pc)) {
      return seen & kIdMask;
    }
  }
  return 0;
}

uint32_t FindOrAddInLevels(uint32_t parent, uintptr_t pc, uint32_t& fresh) {
  const uint64_t hash = HashFrame(parent, pc);
  for (size_t level = 0; level < kLevels; ++level) {
    std::atomic<uint32_t>* slots = LevelAt(level);
    if (slots == nullptr) break;
    const size_t buckets = (size_t{1} << LevelBits(level)) / kBucketSlots;
    const size_t first = BucketOf(hash, LevelBits(level));
    for (size_t i = 0; i < (level + 1 == kLevels ? kLastLevelBuckets : 1); ++i) {
      std::atomic<uint32_t>* bucket = slots + (first + i) % buckets * kBucketSlots;
      const uint32_t id = FindOrAdd(bucket, hash, parent, pc, fresh);
      if (id != 0) return id;
    }
  }
  return kNoRoom;
}

}  // namespace

StackId InternFrame(StackId parent, uintptr_t pc) {
  const auto above = static_cast<uint32_t>(parent);
  pc &= (uintptr_t{1} << 48) - 1;
  uint32_t fresh = 0;
  uint32_t id = FindOrAddFirstChild(above, pc, fresh);
  if (id == 0) id = FindOrAddInLevels(above, pc, fresh);
  if (id != kNoRoom) return StackId{id};
  full_count.fetch_add(1, std::memory_order_relaxed);
  return parent;
}

StackId CutRoot() { return InternFrame(StackId::kNone, 0); }

bool ReadStackNode(StackId id, StackNode& node) {
  NodeValue value{};
  if (!Read(static_cast<uint32_t>(id), value) || IsMarker(value)) return false;
  NodeValue above{};
  const bool outermost = value.parent == 0 || (Read(value.parent, above) && IsMarker(above));
  node.parent = outermost ? StackId::kNone : StackId{value.parent};
  node.pc = value.pc;
  return true;
}

bool StackWasCut(StackId id) {
  NodeValue value{};
  return Read(static_cast<uint32_t>(id), value) && value.cut;
}

void RetireFrames(uintptr_t start, uintptr_t end, uint32_t identity) {
  const uint32_t count = StackCount();
  for (uint32_t id = 1; id <= count; ++id) {
    NodeValue value{};
    const bool inside = Read(id, value) && value.pc - 1 - start < end - start;
    if (!inside || value.retired != 0 || IsMarker(value)) continue;
    NodeAt(id)->pc_high_and_flags.fetch_or(identity << kRetiredShift, std::memory_order_acq_rel);
  }
}

uint32_t StackCount() {
  const uint32_t count = node_count.load(std::memory_order_acquire);
  return count < kMaxStackNodes ? count : kMaxStackNodes;
}

uint64_t StackTrieFullCount() { return full_count.load(std::memory_order_relaxed); }

}  // namespace memagent::capture
