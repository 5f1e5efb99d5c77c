// The memory behind the address index: an 8-byte slot for each 32 bytes of address space, in chunks
// that are mapped when the first block in them is born. What slots mean: shadow_map.h.
//
//   address 46......36 35.......25 24..........5 4....0
//           first level  second level   slot      granule
//
// The first level is 16 KiB of .bss, a second-level table 32 KiB for 64 GiB of addresses: a limit
// on address space (ulimit -v) is the host's, not ours to use up.
#ifndef MEMAGENT_AGENT_LEDGER_SHADOW_TABLE_H_
#define MEMAGENT_AGENT_LEDGER_SHADOW_TABLE_H_

#include <atomic>
#include <cstdint>

#include "agent/base/types.h"
#include "agent/ledger/event_time.h"

namespace memagent::ledger {

inline constexpr uint64_t kGranule = 32;
inline constexpr uint64_t kMarkerSpan = uint64_t{16} << 10;
inline constexpr uint64_t kChunkSpan = uint64_t{32} << 20;

enum class SlotState : uint64_t { kEmpty = 0, kLive = 1, kDead = 2, kSize = 3 };

// The size code of a block whose size is in its next slot.
inline constexpr uint64_t kSizeInNextSlot = 63;

struct Slot {
  uint64_t bits;
  SlotState state() const { return static_cast<SlotState>((bits >> 54) & 3); }
  EventTime time() const { return static_cast<EventTime>(bits); }
  SiteId site() const { return SiteId{static_cast<uint32_t>(bits >> 32) & kSiteBits}; }
  uint64_t offset() const { return ((bits >> 56) & 3) * 8; }
  uint64_t size_code() const { return bits >> 58; }
  uint64_t wide_size() const { return bits & kWideSizeBits; }  // of a kSize slot

  // The same block, dead since `death`.
  Slot Dead(EventTime death) const {
    constexpr uint64_t kKept = ~(uint64_t{3} << 54 | 0xffffffff);
    return {(bits & kKept) | static_cast<uint64_t>(SlotState::kDead) << 54 | death};
  }
  static Slot Live(uint64_t start, uint64_t size, SiteId site, EventTime birth) {
    const uint64_t code = size < kSizeInNextSlot ? size : kSizeInNextSlot;
    return {code << 58 | (start % kGranule / 8) << 56 |
            static_cast<uint64_t>(SlotState::kLive) << 54 | static_cast<uint64_t>(site) << 32 |
            birth};
  }
  static Slot Size(uint64_t size) {
    return {static_cast<uint64_t>(SlotState::kSize) << 54 | (size & kWideSizeBits)};
  }

 private:
  static constexpr uint32_t kSiteBits = (1u << 22) - 1;
  static constexpr uint64_t kWideSizeBits = (uint64_t{1} << 54) - 1;
};

using SlotCell = std::atomic<uint64_t>;

struct ShadowChunk {
  static constexpr uint64_t kSlots = kChunkSpan / kGranule;
  SlotCell slots[kSlots];
  std::atomic<uint64_t> markers[kChunkSpan / kMarkerSpan];
};

struct ShadowEntry {
  std::atomic<ShadowChunk*> chunk;
  std::atomic<uint64_t> cover;
};

inline constexpr int kShadowAddressBits = 47;  // user space of x86-64 and of AArch64 without LPA
inline constexpr uint64_t kShadowEntries = 2048;
inline constexpr uint64_t kShadowTables =
    (uint64_t{1} << kShadowAddressBits) / kChunkSpan / kShadowEntries;
extern std::atomic<ShadowEntry*> shadow_tables[kShadowTables];

// The entry, or chunk, of an address; nullptr where none was made. Calling thread: any.
inline ShadowEntry* EntryOf(uint64_t address) {
  if (address >> kShadowAddressBits != 0) return nullptr;
  const uint64_t index = address / kChunkSpan;
  ShadowEntry* table = shadow_tables[index / kShadowEntries].load(std::memory_order_acquire);
  return table == nullptr ? nullptr : &table[index % kShadowEntries];
}
inline ShadowChunk* ChunkOf(uint64_t address) {
  ShadowEntry* entry = EntryOf(address);
  return entry == nullptr ? nullptr : entry->chunk.load(std::memory_order_acquire);
}
inline SlotCell* CellOf(uint64_t address) {
  ShadowChunk* chunk = ChunkOf(address);
  return chunk == nullptr ? nullptr : &chunk->slots[address % kChunkSpan / kGranule];
}

// The same, made where missing; nullptr when memory is refused. Calling thread: any, in a hook.
ShadowEntry* MakeEntryOf(uint64_t address);
ShadowChunk* MakeChunkOf(uint64_t address);

// Whether the slot after that of `address` is in another chunk.
inline bool IsLastOfChunk(uint64_t address) {
  return address % kChunkSpan / kGranule == ShadowChunk::kSlots - 1;
}

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_SHADOW_TABLE_H_
