#include "agent/ledger/shadow_map.h"

#include "agent/ledger/crowded_blocks.h"

namespace memagent::ledger {
namespace {

using State = SlotState;

Slot ReadSlot(uint64_t address) {
  const SlotCell* slot = CellOf(address);
  return Slot{slot == nullptr ? 0 : slot->load(std::memory_order_acquire)};
}

// Size of the block whose first slot is `slot` in the granule at `granule`; false when the slot
// that held it was overwritten.
bool SizeOf(Slot slot, uint64_t granule, uint64_t& size) {
  size = slot.size_code();
  if (size != kSizeInNextSlot) return true;
  const Slot next = ReadSlot(granule + kGranule);
  size = next.wide_size();
  return next.state() == State::kSize;
}

SlotCell* MakeCellOf(uint64_t address) {
  ShadowChunk* chunk = MakeChunkOf(address);
  return chunk == nullptr ? nullptr : &chunk->slots[address % kChunkSpan / kGranule];
}

void AddDisplaced(Displaced& displaced, const DeadBlock& block) {
  if (displaced.count < 3) displaced.blocks[displaced.count++] = block;
}

// Hands out the dead block of `granule` when a pending sample may need it.
void DisplaceDead(uint64_t granule, Slot slot, Displaced& displaced) {
  if (slot.state() != State::kDead || !IsRecent(slot.time())) return;
  uint64_t size;
  if (!SizeOf(slot, granule, size)) return;
  AddDisplaced(displaced, {granule + slot.offset(), size, slot.site(), 0, slot.time(), false});
}

// The slot at `granule` is about to be overwritten.
void Displace(uint64_t granule, Slot slot, Displaced& displaced) {
  if (slot.bits == 0) return;
  if (slot.state() == State::kSize) granule -= kGranule, slot = ReadSlot(granule);
  DisplaceDead(granule, slot, displaced);
}

// Stores `start` at every boundary and whole chunk inside [start, start + size).
void MarkInterior(uint64_t start, uint64_t size) {
  const uint64_t end = start + size;
  uint64_t at = (start / kMarkerSpan + 1) * kMarkerSpan;
  while (at < end) {
    ShadowEntry* top = MakeEntryOf(at);
    if (top == nullptr) return;
    if (at % kChunkSpan == 0 && end - at >= kChunkSpan) {
      top->cover.store(start, std::memory_order_release);
      at += kChunkSpan;
      continue;
    }
    ShadowChunk* chunk = MakeChunkOf(at);
    if (chunk == nullptr) return;
    chunk->markers[at % kChunkSpan / kMarkerSpan].store(start, std::memory_order_release);
    at += kMarkerSpan;
  }
}

// Was the block of `slot` alive at `moment`? A dead slot's birth is older than anything pending.
bool AliveAt(Slot slot, EventTime moment, EventTime now) {
  if (slot.state() == State::kLive) return AtOrBefore(slot.time(), moment, now);
  return slot.state() == State::kDead && Age(slot.time(), now) < Age(moment, now);
}

// The small block of the crowded table that covered `address` at `moment`.
bool FindCrowdedAt(uint64_t address, EventTime moment, EventTime now, Block& block) {
  for (uint64_t back = 0; back < kSizeInNextSlot; back += 8) {
    const uint64_t start = address / 8 * 8 - back;
    Slot slot{};
    if (!FindCrowded(start, slot.bits) || !AliveAt(slot, moment, now)) continue;
    if (address - start >= slot.size_code()) return false;
    block = {start, slot.size_code(), slot.site()};
    return true;
  }
  return false;
}

bool FindCrowdedBlock(uint64_t start, Block& block) {
  Slot slot{};
  if (!FindCrowded(start, slot.bits)) return false;
  block = {start, slot.size_code(), slot.site()};
  return true;
}

// A block that is live in the crowded table starts at an address that was just given out again.
void NoteMissedCrowdedFree(uint64_t start, Displaced& displaced) {
  uint64_t bits;
  if (!FindCrowdedBlock(start, displaced.missed)) return;
  displaced.missed_free = true;
  EraseCrowded(start, bits);
}

InsertResult InsertCrowdedBlock(uint64_t start, uint64_t size, SiteId site, EventTime now) {
  if (size >= kSizeInNextSlot) return InsertResult::kOccupied;
  return InsertCrowded(start, Slot::Live(start, size, site, now).bits) ? InsertResult::kOk
                                                                       : InsertResult::kOccupied;
}

bool EraseCrowdedBlock(uint64_t start, EventTime now, Block& block, Displaced& displaced) {
  Slot slot{};
  if (!EraseCrowded(start, slot.bits)) return false;
  block = {start, slot.size_code(), slot.site()};
  if (HistoryWanted()) {
    AddDisplaced(displaced,
                 {start, block.size, block.site, slot.time(), now, IsRecent(slot.time())});
  }
  return true;
}

enum class Fit : uint8_t { kNo, kCovers, kEndsBefore };

// How the block that starts in `granule` lies to `address` at `moment`. Sets `block` only when it
// covers the address.
Fit FitOf(uint64_t granule, uint64_t address, EventTime moment, EventTime now, Block& block) {
  const Slot slot = ReadSlot(granule);
  if (!AliveAt(slot, moment, now)) return Fit::kNo;
  const uint64_t start = granule + slot.offset();
  uint64_t size;
  if (start > address || !SizeOf(slot, granule, size)) return Fit::kNo;
  if (address - start >= size) return Fit::kEndsBefore;
  block = {start, size, slot.site()};
  return Fit::kCovers;
}

// Walks down from the granule of `address` to that of `lowest`, to the next block alive then.
Fit WalkDown(uint64_t address, uint64_t from, uint64_t lowest, EventTime moment, EventTime now,
             Block& block) {
  for (uint64_t granule = from; granule >= lowest; granule -= kGranule) {
    const Fit fit = FitOf(granule, address, moment, now, block);
    if (fit != Fit::kNo || granule == 0) return fit;
  }
  return Fit::kNo;
}

// Where a large block that covers `boundary` (16 KiB aligned) would start; 0: none known.
uint64_t MarkedStart(uint64_t boundary) {
  const ShadowChunk* chunk = ChunkOf(boundary);
  return chunk == nullptr
             ? 0
             : chunk->markers[boundary % kChunkSpan / kMarkerSpan].load(std::memory_order_acquire);
}
uint64_t CoveringStart(uint64_t address) {
  const ShadowEntry* top = EntryOf(address);
  return top == nullptr ? 0 : top->cover.load(std::memory_order_acquire);
}

}  // namespace

constinit std::atomic<EventTime> settled_time{0};
constinit std::atomic<bool> history_wanted{false};

InsertResult InsertBlock(uint64_t start, uint64_t size, SiteId site, EventTime now,
                         Displaced& displaced) {
  SlotCell* slot = MakeCellOf(start);
  if (slot == nullptr) return InsertResult::kNoMemory;
  const uint64_t granule = start / kGranule * kGranule;
  const Slot old{slot->load(std::memory_order_relaxed)};
  if (AnyCrowded()) NoteMissedCrowdedFree(start, displaced);
  if (old.state() == State::kLive) {
    if (granule + old.offset() != start) return InsertCrowdedBlock(start, size, site, now);
    displaced.missed_free |= FindBlock(start, displaced.missed);
  }
  Displace(granule, old, displaced);
  if (size >= kSizeInNextSlot) {
    SlotCell* next = MakeCellOf(granule + kGranule);
    if (next == nullptr) return InsertResult::kNoMemory;
    // A size slot there belonged to the block just displaced.
    const Slot old_next{next->load(std::memory_order_relaxed)};
    if (old_next.state() != State::kSize) Displace(granule + kGranule, old_next, displaced);
    next->store(Slot::Size(size).bits, std::memory_order_release);
  }
  const uint64_t bits = Slot::Live(start, size, site, now).bits;
  if (size > kMayShareGranule) {
    slot->store(bits, std::memory_order_release);
  } else if (uint64_t seen = old.bits;
             !slot->compare_exchange_strong(seen, bits, std::memory_order_acq_rel)) {
    return InsertCrowdedBlock(start, size, site, now);  // a neighbour was faster
  }
  if (size >= kLargeBlock) MarkInterior(start, size);
  return InsertResult::kOk;
}

bool EraseBlock(uint64_t start, EventTime now, Block& block, Displaced& displaced) {
  SlotCell* cell = CellOf(start);
  if (cell == nullptr) return false;
  const Slot slot{cell->load(std::memory_order_relaxed)};
  const uint64_t granule = start / kGranule * kGranule;
  if (slot.state() != State::kLive || granule + slot.offset() != start) {
    return AnyCrowded() && EraseCrowdedBlock(start, now, block, displaced);
  }
  block.start = start;
  block.site = slot.site();
  if (!SizeOf(slot, granule, block.size)) return false;
  const bool born_recently = IsRecent(slot.time());
  if (HistoryWanted() && (born_recently || block.size >= kLargeBlock)) {
    AddDisplaced(displaced, {start, block.size, block.site, slot.time(), now, born_recently});
    cell->store(0, std::memory_order_release);
    if (slot.size_code() == kSizeInNextSlot) {
      CellOf(granule + kGranule)->store(0, std::memory_order_release);
    }
    return true;
  }
  cell->store(slot.Dead(now).bits, std::memory_order_release);
  return true;
}

void RestoreBlock(const Block& block) {
  Displaced ignored;
  InsertBlock(block.start, block.size, block.site, Settled(), ignored);
}

bool FindBlock(uint64_t start, Block& block) {
  const Slot slot = ReadSlot(start);
  const uint64_t granule = start / kGranule * kGranule;
  if (slot.state() != State::kLive || granule + slot.offset() != start) {
    return AnyCrowded() && FindCrowdedBlock(start, block);
  }
  block.start = start;
  block.site = slot.site();
  return SizeOf(slot, granule, block.size);
}

SlotVerdict LookUpBlock(uint64_t address, EventTime moment, EventTime now, Block& block) {
  if (AnyCrowded() && FindCrowdedAt(address, moment, now, block)) return SlotVerdict::kBlock;
  const uint64_t boundary = address / kMarkerSpan * kMarkerSpan;
  const uint64_t granule = address / kGranule * kGranule;
  Fit fit = WalkDown(address, granule, boundary, moment, now, block);
  if (fit != Fit::kNo) return fit == Fit::kCovers ? SlotVerdict::kBlock : SlotVerdict::kNothing;
  for (uint64_t start : {MarkedStart(boundary), CoveringStart(address)}) {
    if (start == 0) continue;
    if (FitOf(start / kGranule * kGranule, address, moment, now, block) == Fit::kCovers) {
      return SlotVerdict::kBlock;
    }
  }
  // A block without markers may still reach across the boundary: it starts less than kLargeBlock
  // before the address.
  if (boundary < kLargeBlock) return SlotVerdict::kNothing;
  fit = WalkDown(address, boundary - kGranule, granule - kLargeBlock, moment, now, block);
  return fit == Fit::kCovers ? SlotVerdict::kBlock : SlotVerdict::kNothing;
}

}  // namespace memagent::ledger
