// The address index: which live heap block is at an address, and which one was there a moment ago.
//
// One 8-byte slot for each 32 bytes of address space. glibc never puts two blocks' starts into one
// granule of 32 bytes, so a block owns the slot of the granule it starts in; a block of 63 bytes or
// more also owns the next slot, which then holds its size. The cost is a quarter of the heap's
// address range (20 bytes for a 64-byte block) and two stores for an allocation.
//
//   slot   63......58 57..56 55.54 53............32 31...........0
//          size code  offset state     site             time
//
//   size code   0..62 the size; 63: the next slot holds it
//   offset      start of the block inside its granule, in 8 bytes
//   state       empty, live (time = birth), dead (time = death), size (continues the slot before)
//
// A freed block stays in its slot as dead until another block starts there, so that samples taken
// before the free still find it; one in whose life no sample was taken leaves an empty slot. What a
// new block overwrites is handed to the caller when samples of that time may still be in a ring
// ("recent"): it goes into the owner's history ring.
//
// Blocks of kLargeBlock bytes or more also leave their start address at every 16 KiB boundary they
// cover ("marker"), and at every whole 32 MiB chunk ("cover"), so that an interior address finds
// its start without a long walk. A smaller block that crosses such a boundary is found by walking
// on, since it starts less than kLargeBlock before any address in it.
//
// Lock-free: host threads store, the drain thread reads. The allocator never gives one address out
// twice, so two threads write one slot at the same time only when both insert into an empty granule
// that has room for two blocks: the second then goes to the crowded table.
#ifndef MEMAGENT_AGENT_LEDGER_SHADOW_MAP_H_
#define MEMAGENT_AGENT_LEDGER_SHADOW_MAP_H_

#include <atomic>
#include <cstdint>

#include "agent/base/types.h"
#include "agent/ledger/crowded_blocks.h"
#include "agent/ledger/event_time.h"
#include "agent/ledger/shadow_table.h"

namespace memagent::ledger {

inline constexpr uint64_t kLargeBlock = kMarkerSpan;
// A block behind which another can start in the same granule. Slabs of such blocks hold one size
// only, so both are this small, and two threads may insert them at the same time.
inline constexpr uint64_t kMayShareGranule = kGranule - 8;

// A heap block that is or was at an address.
struct Block {
  uint64_t start = 0;
  uint64_t size = 0;
  SiteId site = SiteId::kUnknown;
};

// A block that is gone, for samples taken while it lived.
struct DeadBlock {
  uint64_t start;
  uint64_t size;
  SiteId site;
  EventTime birth;
  EventTime death;
  bool birth_known;  // false: born before anything that is still undrained
};

// What Insert and Erase displaced that a pending sample may still need: at most three blocks.
struct Displaced {
  int count = 0;
  DeadBlock blocks[3];
  // InsertBlock found a live block at the very same start: its free was never seen (a library bound
  // to the allocator directly). The caller books that free now.
  bool missed_free = false;
  Block missed;
};

enum class InsertResult : uint8_t { kOk, kOccupied, kNoMemory };

// Samples taken before this moment have all been attributed: older history is not needed.
// Set by the drain thread, read by hooks.
extern std::atomic<EventTime> settled_time;
inline void SetSettled(EventTime settled) {
  settled_time.store(settled, std::memory_order_relaxed);
}
inline EventTime Settled() { return settled_time.load(std::memory_order_relaxed); }
// Whether anything samples at all: without it no history is kept.
extern std::atomic<bool> history_wanted;
inline void SetHistoryWanted(bool wanted) {
  history_wanted.store(wanted, std::memory_order_relaxed);
}
inline bool HistoryWanted() { return history_wanted.load(std::memory_order_relaxed); }

// Whether a sample that is still pending may be as old as `event`. Times wrap: of events of over
// two minutes ago, half look recent, which costs a record of history and nothing else.
inline bool IsRecent(EventTime event) {
  return HistoryWanted() && static_cast<int32_t>(event - Settled()) >= 0;
}

// Records a new block. A second small block in one granule goes to the crowded table
// (crowded_blocks.h); kOccupied: it found no room there, or is too big for it, and the caller
// counts it. Calling thread: any, right after the real malloc.
InsertResult InsertBlock(uint64_t start, uint64_t size, SiteId site, EventTime now,
                         Displaced& displaced);

// Marks the block that starts at `start` dead. False when none is known there. `block` and
// `displaced` are set. Calling thread: any, right before the real free.
bool EraseBlock(uint64_t start, EventTime now, Block& block, Displaced& displaced);

// The two above in nearly all calls, where nothing is displaced that a pending sample may need.
// False: nothing was done, and the general function has to be called.
inline bool TryInsertBlock(uint64_t start, uint64_t size, SiteId site, EventTime now);
inline bool TryEraseBlock(uint64_t start, EventTime now, Block& block);

// Takes back an erase whose real operation failed (realloc): the block is live again for every
// sample that is still pending.
void RestoreBlock(const Block& block);

// The live block that starts exactly at `start`.
bool FindBlock(uint64_t start, Block& block);

// What the slots say about `address` at `moment` (drain thread).
enum class SlotVerdict : uint8_t {
  kNothing,  // no block is known to have covered it then; the history rings may know one
  kBlock,    // this one
};
SlotVerdict LookUpBlock(uint64_t address, EventTime moment, EventTime now, Block& block);

// Whether nothing is lost when the slot is overwritten.
inline bool IsDisposable(Slot slot) {
  return slot.bits == 0 || (slot.state() == SlotState::kDead && !IsRecent(slot.time()));
}

[[gnu::always_inline]] inline bool TryInsertBlock(uint64_t start, uint64_t size, SiteId site,
                                                  EventTime now) {
  SlotCell* cell = CellOf(start);
  if (cell == nullptr || size >= kLargeBlock || AnyCrowded()) return false;
  const Slot old{cell->load(std::memory_order_relaxed)};
  if (!IsDisposable(old)) return false;
  if (size >= kSizeInNextSlot) {
    if (IsLastOfChunk(start)) return false;
    const Slot next{cell[1].load(std::memory_order_relaxed)};
    if (next.state() != SlotState::kSize && !IsDisposable(next)) return false;
    cell[1].store(Slot::Size(size).bits, std::memory_order_release);
  }
  const uint64_t bits = Slot::Live(start, size, site, now).bits;
  if (size > kMayShareGranule) {
    cell->store(bits, std::memory_order_release);
    return true;
  }
  uint64_t seen = old.bits;
  return cell->compare_exchange_strong(seen, bits, std::memory_order_acq_rel);
}

// False: surely no block that is live starts here.
[[gnu::always_inline]] inline bool MayHoldBlock(uint64_t start) {
  if (AnyCrowded()) return true;
  const SlotCell* cell = CellOf(start);
  if (cell == nullptr) return false;
  const Slot slot{cell->load(std::memory_order_relaxed)};
  return slot.state() == SlotState::kLive && slot.offset() == start % kGranule;
}

[[gnu::always_inline]] inline bool TryEraseBlock(uint64_t start, EventTime now, Block& block) {
  SlotCell* cell = CellOf(start);
  if (cell == nullptr) return false;
  const Slot slot{cell->load(std::memory_order_relaxed)};
  if (slot.state() != SlotState::kLive || slot.offset() != start % kGranule) return false;
  const bool wide = slot.size_code() == kSizeInNextSlot;
  block = {start, slot.size_code(), slot.site()};
  if (wide) {
    if (IsLastOfChunk(start)) return false;
    const Slot next{cell[1].load(std::memory_order_relaxed)};
    block.size = next.wide_size();
    if (next.state() != SlotState::kSize || block.size >= kLargeBlock) return false;
  }
  if (slot.time() == now) {  // no sample was taken in its life (hook_clock.h)
    cell->store(0, std::memory_order_release);
    if (wide) cell[1].store(0, std::memory_order_release);
    return true;
  }
  if (IsRecent(slot.time())) return false;
  cell->store(slot.Dead(now).bits, std::memory_order_release);
  return true;
}

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_SHADOW_MAP_H_
