#include "agent/ledger/shadow_map.h"

#include <sys/mman.h>

#include "agent/base/arena.h"
#include "agent/base/syscall.h"
#include "agent/ledger/crowded_blocks.h"

namespace memagent::ledger {
namespace {

constexpr int kAddressBits = 47;  // user space of x86-64 and of AArch64 without LPA
constexpr uint64_t kChunks = (uint64_t{1} << kAddressBits) / kChunkSpan;
constexpr uint64_t kSlots = kChunkSpan / kGranule;
constexpr uint64_t kMarkers = kChunkSpan / kMarkerSpan;

enum class State : uint64_t { kEmpty = 0, kLive = 1, kDead = 2, kSize = 3 };
constexpr uint64_t kSizeInNextSlot = 63;
constexpr uint64_t kSizeMask = (uint64_t{1} << 54) - 1;
// A block behind which another can start in the same granule. Slabs of such blocks hold one size
// only, so both are this small, and two threads may insert them at the same time.
constexpr uint64_t kMayShareGranule = kGranule - 8;

struct Slot {
  uint64_t bits;
  State state() const { return static_cast<State>((bits >> 54) & 3); }
  EventTime time() const { return static_cast<EventTime>(bits); }
  SiteId site() const { return SiteId{static_cast<uint32_t>(bits >> 32) & kMaxSiteBits}; }
  uint64_t offset() const { return ((bits >> 56) & 3) * 8; }
  uint64_t size_code() const { return bits >> 58; }
  static constexpr uint32_t kMaxSiteBits = (1u << 22) - 1;
};

uint64_t Encode(State state, uint64_t start, uint64_t size, SiteId site, EventTime time) {
  const uint64_t code = size < kSizeInNextSlot ? size : kSizeInNextSlot;
  return code << 58 | ((start % kGranule) / 8) << 56 | static_cast<uint64_t>(state) << 54 |
         static_cast<uint64_t>(site) << 32 | time;
}

struct Chunk {
  std::atomic<uint64_t> slots[kSlots];
  std::atomic<uint64_t> markers[kMarkers];
};
struct TopEntry {
  std::atomic<Chunk*> chunk;
  std::atomic<uint64_t> cover;
};

// The first level is 16 KiB of .bss, a second-level table 32 KiB for 64 GiB of addresses: a limit on
// address space (ulimit -v) is the host's, not ours to use up.
constexpr uint64_t kTopEntries = 2048;
constinit std::atomic<TopEntry*> top_tables[kChunks / kTopEntries];
constinit std::atomic<EventTime> settled_time{0};
constinit std::atomic<bool> history_wanted{false};

// Sparse use must not make 2 MiB pages of mostly nothing.
void KeepPagesSmall(void* start, size_t size) {
  base::Syscall(SYS_madvise, start, size, MADV_NOHUGEPAGE);
}

template <typename T>
T* MapInto(std::atomic<T*>& cell, size_t bytes) {
  auto* fresh = static_cast<T*>(base::MapPages(bytes, base::MemoryUse::kIndex));
  if (fresh == nullptr) return nullptr;
  KeepPagesSmall(fresh, bytes);
  T* expected = nullptr;
  if (cell.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) return fresh;
  base::UnmapPages(fresh, bytes, base::MemoryUse::kIndex);
  return expected;
}

TopEntry* TopOf(uint64_t address, bool make) {
  if (address >> kAddressBits != 0) return nullptr;
  const uint64_t index = address / kChunkSpan;
  std::atomic<TopEntry*>& cell = top_tables[index / kTopEntries];
  TopEntry* table = cell.load(std::memory_order_acquire);
  if (table == nullptr && make) table = MapInto(cell, kTopEntries * sizeof(TopEntry));
  return table == nullptr ? nullptr : &table[index % kTopEntries];
}

Chunk* ChunkOf(uint64_t address, bool make) {
  TopEntry* top = TopOf(address, make);
  if (top == nullptr) return nullptr;
  Chunk* chunk = top->chunk.load(std::memory_order_acquire);
  if (chunk == nullptr && make) chunk = MapInto(top->chunk, sizeof(Chunk));
  return chunk;
}

// The slot of an address; nullptr where no chunk is (or can be made).
std::atomic<uint64_t>* SlotOf(uint64_t address, bool make = false) {
  Chunk* chunk = ChunkOf(address, make);
  return chunk == nullptr ? nullptr : &chunk->slots[address % kChunkSpan / kGranule];
}

Slot ReadSlot(uint64_t address) {
  const std::atomic<uint64_t>* slot = SlotOf(address);
  return Slot{slot == nullptr ? 0 : slot->load(std::memory_order_acquire)};
}

// Reading the counter is not serialising: another CPU's event may carry a time a little ahead of
// ours. 2 us of slack keep it from looking 2^32 units old.
constexpr uint32_t kClockSlack = 16;

bool IsRecent(EventTime event, EventTime now) {
  return HistoryWanted() && Age(event, now + kClockSlack) <= Age(Settled(), now + kClockSlack);
}

// Size of the block whose first slot is `slot` in the granule at `granule`; false when the slot
// that held it was overwritten.
bool SizeOf(Slot slot, uint64_t granule, uint64_t& size) {
  size = slot.size_code();
  if (size != kSizeInNextSlot) return true;
  const Slot next = ReadSlot(granule + kGranule);
  size = next.bits & kSizeMask;
  return next.state() == State::kSize;
}

void AddDisplaced(Displaced& displaced, const DeadBlock& block) {
  if (displaced.count < 3) displaced.blocks[displaced.count++] = block;
}

// Hands out the dead block of `granule` when a pending sample may need it.
void DisplaceDead(uint64_t granule, Slot slot, EventTime now, Displaced& displaced) {
  if (slot.state() != State::kDead || !IsRecent(slot.time(), now)) return;
  uint64_t size;
  if (!SizeOf(slot, granule, size)) return;
  AddDisplaced(displaced, {granule + slot.offset(), size, slot.site(), 0, slot.time(), false});
}

// The slot at `granule` is about to be overwritten.
void Displace(uint64_t granule, Slot slot, EventTime now, Displaced& displaced) {
  if (slot.bits == 0) return;
  if (slot.state() == State::kSize) granule -= kGranule, slot = ReadSlot(granule);
  DisplaceDead(granule, slot, now, displaced);
}

// Stores `start` at every boundary and whole chunk inside [start, start + size).
void MarkInterior(uint64_t start, uint64_t size) {
  const uint64_t end = start + size;
  uint64_t at = (start / kMarkerSpan + 1) * kMarkerSpan;
  while (at < end) {
    TopEntry* top = TopOf(at, true);
    if (top == nullptr) return;
    if (at % kChunkSpan == 0 && end - at >= kChunkSpan) {
      top->cover.store(start, std::memory_order_release);
      at += kChunkSpan;
      continue;
    }
    Chunk* chunk = ChunkOf(at, true);
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
  return InsertCrowded(start, Encode(State::kLive, start, size, site, now))
             ? InsertResult::kOk
             : InsertResult::kOccupied;
}

bool EraseCrowdedBlock(uint64_t start, EventTime now, Block& block, Displaced& displaced) {
  Slot slot{};
  if (!EraseCrowded(start, slot.bits)) return false;
  block = {start, slot.size_code(), slot.site()};
  if (HistoryWanted()) {
    AddDisplaced(displaced,
                 {start, block.size, block.site, slot.time(), now, IsRecent(slot.time(), now)});
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
  const Chunk* chunk = ChunkOf(boundary, false);
  return chunk == nullptr
             ? 0
             : chunk->markers[boundary % kChunkSpan / kMarkerSpan].load(std::memory_order_acquire);
}
uint64_t CoveringStart(uint64_t address) {
  const TopEntry* top = TopOf(address, false);
  return top == nullptr ? 0 : top->cover.load(std::memory_order_acquire);
}

}  // namespace

void SetSettled(EventTime settled) { settled_time.store(settled, std::memory_order_relaxed); }
EventTime Settled() { return settled_time.load(std::memory_order_relaxed); }
void SetHistoryWanted(bool wanted) { history_wanted.store(wanted, std::memory_order_relaxed); }
bool HistoryWanted() { return history_wanted.load(std::memory_order_relaxed); }

InsertResult InsertBlock(uint64_t start, uint64_t size, SiteId site, EventTime now,
                         Displaced& displaced) {
  std::atomic<uint64_t>* slot = SlotOf(start, true);
  if (slot == nullptr) return InsertResult::kNoMemory;
  const uint64_t granule = start / kGranule * kGranule;
  const Slot old{slot->load(std::memory_order_relaxed)};
  if (AnyCrowded()) NoteMissedCrowdedFree(start, displaced);
  if (old.state() == State::kLive) {
    if (granule + old.offset() != start) return InsertCrowdedBlock(start, size, site, now);
    displaced.missed_free |= FindBlock(start, displaced.missed);
  }
  Displace(granule, old, now, displaced);
  if (size >= kSizeInNextSlot) {
    std::atomic<uint64_t>* next = SlotOf(granule + kGranule, true);
    if (next == nullptr) return InsertResult::kNoMemory;
    // A size slot there belonged to the block just displaced.
    const Slot old_next{next->load(std::memory_order_relaxed)};
    if (old_next.state() != State::kSize) Displace(granule + kGranule, old_next, now, displaced);
    next->store(static_cast<uint64_t>(State::kSize) << 54 | (size & kSizeMask),
                std::memory_order_release);
  }
  const uint64_t bits = Encode(State::kLive, start, size, site, now);
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
  std::atomic<uint64_t>* cell = SlotOf(start);
  if (cell == nullptr) return false;
  const Slot slot{cell->load(std::memory_order_relaxed)};
  const uint64_t granule = start / kGranule * kGranule;
  if (slot.state() != State::kLive || granule + slot.offset() != start) {
    return AnyCrowded() && EraseCrowdedBlock(start, now, block, displaced);
  }
  block.start = start;
  block.site = slot.site();
  if (!SizeOf(slot, granule, block.size)) return false;
  const bool born_recently = IsRecent(slot.time(), now);
  if (HistoryWanted() && (born_recently || block.size >= kLargeBlock)) {
    AddDisplaced(displaced, {start, block.size, block.site, slot.time(), now, born_recently});
    cell->store(0, std::memory_order_release);
    return true;
  }
  cell->store(Encode(State::kDead, start, block.size, block.site, now), std::memory_order_release);
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
