// Which live blocks and mappings have a placement: it is taken back when a block is freed, and set
// again when the program's own calls have overruled it. A table of fixed size, without locks.
//
//   slots   [ 0 | start, size, rule | 0 | start, size, rule | start, size, rule | 0 | ... ]
//                 └ hash of start ───── kWindow ──────┘
//
// A start stands in the kWindow slots from its hash on, or nowhere. The allocator gives an address
// out once at a time, so no two threads add or remove the same one together. A fork copies the
// table with the blocks. Calling thread: any.
#ifndef MEMAGENT_AGENT_CAPTURE_PLACED_BLOCKS_H_
#define MEMAGENT_AGENT_CAPTURE_PLACED_BLOCKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memagent::capture {

struct PlacedBlock {
  uint64_t start = 0;
  uint64_t size = 0;     // bytes, below 2^56
  uint32_t rule = 0;     // below 128
  bool mapping = false;  // of mmap; else of the heap

  uint64_t end() const { return start + size; }
};

class PlacedBlocks {
 public:
  static constexpr size_t kMaxBlocks = 8192;

  // Maps the slots, 256 KiB. False without memory: then nothing can be added.
  bool Initialise();

  // False when there are too many.
  bool Add(const PlacedBlock& block);

  // False when no block, or no mapping, with this start is in the table: an allocator's first block
  // starts where its mapping does.
  bool Remove(uint64_t start, bool mapping = false);

  // Calls `visit(PlacedBlock)` for each that has a byte in [start, end). One that another thread
  // adds or removes meanwhile may be among them or not, but never with a size or rule that is not
  // its own.
  template <typename Visit>
  void ForEachIn(uint64_t start, uint64_t end, Visit visit) const;

  // Mappings of which a part is in [start, end), or with `whole` all of it, are forgotten.
  void ForgetMappings(uint64_t start, uint64_t end, bool whole);

 private:
  static constexpr size_t kSlots = kMaxBlocks * 2;
  static constexpr size_t kWindow = 64;
  static constexpr uint64_t kBeingWritten = 1;  // no block starts there
  static constexpr uint64_t kMappingBit = 0x80;

  struct Slot {
    std::atomic<uint64_t> start;
    std::atomic<uint64_t> size_and_rule;  // size << 8 | mapping << 7 | rule
  };

  Slot& SlotOf(uint64_t start, size_t step) const {
    return slots_[((start * 0x9e3779b97f4a7c15 >> 40) + step) % kSlots];
  }
  // False when the slot is empty or was changed meanwhile.
  static bool Read(const Slot& slot, PlacedBlock& block);

  Slot* slots_ = nullptr;
  std::atomic<uint32_t> count_{0};
  std::atomic<uint32_t> mappings_{0};
};

// The start is read again after the rest: a writer clears it before it writes another size.
inline bool PlacedBlocks::Read(const Slot& slot, PlacedBlock& block) {
  block.start = slot.start.load(std::memory_order_acquire);
  if (block.start <= kBeingWritten) return false;
  const uint64_t rest = slot.size_and_rule.load(std::memory_order_acquire);
  block.size = rest >> 8;
  block.rule = rest & (kMappingBit - 1);
  block.mapping = (rest & kMappingBit) != 0;
  return slot.start.load(std::memory_order_relaxed) == block.start;
}

template <typename Visit>
void PlacedBlocks::ForEachIn(uint64_t start, uint64_t end, Visit visit) const {
  if (slots_ == nullptr || count_.load(std::memory_order_relaxed) == 0) return;
  for (size_t i = 0; i < kSlots; ++i) {
    PlacedBlock block;
    if (Read(slots_[i], block) && block.start < end && block.end() > start) visit(block);
  }
}

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_PLACED_BLOCKS_H_
