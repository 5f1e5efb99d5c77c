#include "agent/ledger/shadow_table.h"

#include <sys/mman.h>

#include "agent/base/arena.h"
#include "agent/base/syscall.h"

namespace memagent::ledger {
namespace {

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

}  // namespace

constinit std::atomic<ShadowEntry*> shadow_tables[kShadowTables];

ShadowEntry* MakeEntryOf(uint64_t address) {
  if (address >> kShadowAddressBits != 0) return nullptr;
  if (ShadowEntry* entry = EntryOf(address)) return entry;
  const uint64_t index = address / kChunkSpan;
  ShadowEntry* table =
      MapInto(shadow_tables[index / kShadowEntries], kShadowEntries * sizeof(ShadowEntry));
  return table == nullptr ? nullptr : &table[index % kShadowEntries];
}

ShadowChunk* MakeChunkOf(uint64_t address) {
  ShadowEntry* entry = MakeEntryOf(address);
  if (entry == nullptr) return nullptr;
  ShadowChunk* chunk = entry->chunk.load(std::memory_order_acquire);
  return chunk != nullptr ? chunk : MapInto(entry->chunk, sizeof(ShadowChunk));
}

}  // namespace memagent::ledger
