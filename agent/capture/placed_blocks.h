// Which live blocks have a placement, so that it is taken back when they are freed: a set of
// addresses of fixed size, without locks.
//
//   slots   [ 0 | address | 0 | address | address | 0 | ... ]
//                 └ hash ──── kWindow ────┘
//
// An address stands in the kWindow slots from its hash on, or nowhere. The allocator gives an
// address out once at a time, so no two threads add or remove the same one together. A fork copies
// the set with the blocks.
#ifndef MEMAGENT_AGENT_CAPTURE_PLACED_BLOCKS_H_
#define MEMAGENT_AGENT_CAPTURE_PLACED_BLOCKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memagent::capture {

class PlacedBlocks {
 public:
  // Each mbind inside a mapping may split it in three, and a process may have 65,530 mappings
  // (vm.max_map_count): a quarter of these is ours at most.
  static constexpr uint32_t kMaxPieces = 16384;
  static constexpr size_t kMaxBlocks = kMaxPieces / 2;

  // Maps the slots, 128 KiB. False without memory: then nothing can be added.
  bool Initialise();

  // `pieces`: mappings that the block's placement may add. False when there are too many.
  bool Add(uint64_t address, uint32_t pieces);

  // False when the address is not in the set.
  bool Remove(uint64_t address, uint32_t pieces);

 private:
  static constexpr size_t kSlots = kMaxBlocks * 2;
  static constexpr size_t kWindow = 64;

  std::atomic<uint64_t>& SlotOf(uint64_t address, size_t step) const {
    return slots_[((address * 0x9e3779b97f4a7c15 >> 40) + step) % kSlots];
  }

  std::atomic<uint64_t>* slots_ = nullptr;
  std::atomic<uint32_t> pieces_{0};
};

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_PLACED_BLOCKS_H_
