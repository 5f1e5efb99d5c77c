#include "agent/capture/placed_blocks.h"

#include "agent/base/arena.h"

namespace memagent::capture {

bool PlacedBlocks::Initialise() {
  if (slots_ == nullptr) {
    slots_ = static_cast<std::atomic<uint64_t>*>(
        base::MapPages(kSlots * sizeof(*slots_), base::MemoryUse::kIndex));
  }
  return slots_ != nullptr;
}

bool PlacedBlocks::Add(uint64_t address, uint32_t pieces) {
  if (slots_ == nullptr) return false;
  if (pieces_.fetch_add(pieces, std::memory_order_relaxed) + pieces <= kMaxPieces) {
    for (size_t step = 0; step < kWindow; ++step) {
      uint64_t seen = 0;
      if (SlotOf(address, step).compare_exchange_strong(seen, address, std::memory_order_relaxed)) {
        return true;
      }
    }
  }
  pieces_.fetch_sub(pieces, std::memory_order_relaxed);
  return false;
}

bool PlacedBlocks::Remove(uint64_t address, uint32_t pieces) {
  if (slots_ == nullptr) return false;
  for (size_t step = 0; step < kWindow; ++step) {
    std::atomic<uint64_t>& slot = SlotOf(address, step);
    if (slot.load(std::memory_order_relaxed) != address) continue;
    slot.store(0, std::memory_order_relaxed);
    pieces_.fetch_sub(pieces, std::memory_order_relaxed);
    return true;
  }
  return false;
}

}  // namespace memagent::capture
