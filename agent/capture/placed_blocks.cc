#include "agent/capture/placed_blocks.h"

#include "agent/base/arena.h"

namespace memagent::capture {

bool PlacedBlocks::Initialise() {
  if (slots_ == nullptr) {
    slots_ = static_cast<Slot*>(base::MapPages(kSlots * sizeof(*slots_), base::MemoryUse::kIndex));
  }
  return slots_ != nullptr;
}

bool PlacedBlocks::Add(const PlacedBlock& block) {
  if (slots_ == nullptr) return false;
  if (count_.fetch_add(1, std::memory_order_relaxed) < kMaxBlocks) {
    for (size_t step = 0; step < kWindow; ++step) {
      Slot& slot = SlotOf(block.start, step);
      uint64_t seen = 0;
      if (!slot.start.compare_exchange_strong(seen, kBeingWritten, std::memory_order_acquire)) {
        continue;
      }
      slot.size_and_rule.store(block.size << 8 | (block.mapping ? kMappingBit : 0) | block.rule,
                               std::memory_order_release);
      slot.start.store(block.start, std::memory_order_release);
      if (block.mapping) mappings_.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
  }
  count_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

bool PlacedBlocks::Remove(uint64_t start, bool mapping) {
  if (slots_ == nullptr) return false;
  for (size_t step = 0; step < kWindow; ++step) {
    Slot& slot = SlotOf(start, step);
    PlacedBlock block;
    if (!Read(slot, block) || block.start != start || block.mapping != mapping) continue;
    slot.start.store(0, std::memory_order_release);
    count_.fetch_sub(1, std::memory_order_relaxed);
    if (mapping) mappings_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  return false;
}

void PlacedBlocks::ForgetMappings(uint64_t start, uint64_t end, bool whole) {
  if (mappings_.load(std::memory_order_relaxed) == 0) return;
  ForEachIn(start, end, [&](const PlacedBlock& block) {
    if (!block.mapping || (whole && (block.start < start || block.end() > end))) return;
    Remove(block.start, true);
  });
}

}  // namespace memagent::capture
