#include "agent/ledger/crowded_blocks.h"

#include <sys/mman.h>

#include "agent/base/arena.h"
#include "agent/base/syscall.h"

namespace memagent::ledger {
namespace {

constexpr uint64_t kEntries = uint64_t{1} << 20;
constexpr uint64_t kProbes = 64;
constexpr uint64_t kFree = 0;
constexpr uint64_t kErased = 1;  // no block starts at address 1

struct Entry {
  std::atomic<uint64_t> start;
  std::atomic<uint64_t> bits;
};

constinit std::atomic<Entry*> table{nullptr};

Entry* Table() {
  Entry* entries = table.load(std::memory_order_acquire);
  if (entries != nullptr) return entries;
  auto* fresh = static_cast<Entry*>(base::MapPages(kEntries * sizeof(Entry), base::MemoryUse::kIndex));
  if (fresh == nullptr) return nullptr;
  // As much of the table is used as of the heap: no 2 MiB pages of mostly nothing.
  base::Syscall(SYS_madvise, fresh, kEntries * sizeof(Entry), MADV_NOHUGEPAGE);
  if (table.compare_exchange_strong(entries, fresh, std::memory_order_acq_rel)) {
    any_crowded.store(true, std::memory_order_release);
    return fresh;
  }
  base::UnmapPages(fresh, kEntries * sizeof(Entry), base::MemoryUse::kIndex);
  return entries;
}

// Neighbours in a region of 8 MiB stay neighbours here: a page of heap touches two of the table,
// and an address that comes back finds its own erased entry, so that these don't spread. Where a
// region begins is hashed (Fibonacci: the multiplier is 2^64 divided by the golden ratio).
uint64_t PlaceOf(uint64_t start) {
  constexpr int kRegionBits = 23;  // 2^20 entries of 8 bytes of heap
  return (start >> 3) + ((start >> kRegionBits) * 0x9e3779b97f4a7c15ull >> 44);
}

Entry& At(Entry* entries, uint64_t start, uint64_t probe) {
  return entries[(PlaceOf(start) + probe) % kEntries];
}

Entry* Find(uint64_t start) {
  Entry* entries = table.load(std::memory_order_acquire);
  if (entries == nullptr) return nullptr;
  for (uint64_t probe = 0; probe < kProbes; ++probe) {
    Entry& entry = At(entries, start, probe);
    const uint64_t key = entry.start.load(std::memory_order_acquire);
    if (key == start) return &entry;
    if (key == kFree) return nullptr;
  }
  return nullptr;
}

}  // namespace

constinit std::atomic<bool> any_crowded{false};

bool InsertCrowded(uint64_t start, uint64_t slot_bits) {
  Entry* entries = Table();
  if (entries == nullptr) return false;
  if (Entry* known = Find(start)) {  // its free was never seen
    known->bits.store(slot_bits, std::memory_order_release);
    return true;
  }
  for (uint64_t probe = 0; probe < kProbes; ++probe) {
    Entry& entry = At(entries, start, probe);
    uint64_t key = entry.start.load(std::memory_order_relaxed);
    if (key != kFree && key != kErased) continue;
    // The bits follow the key: a reader in between sees the erased block's bits, whose state says
    // that nothing lives here (EraseCrowded leaves 0).
    if (!entry.start.compare_exchange_strong(key, start, std::memory_order_acq_rel)) continue;
    entry.bits.store(slot_bits, std::memory_order_release);
    return true;
  }
  return false;
}

bool EraseCrowded(uint64_t start, uint64_t& slot_bits) {
  Entry* entry = Find(start);
  if (entry == nullptr) return false;
  slot_bits = entry->bits.exchange(0, std::memory_order_acq_rel);
  entry->start.store(kErased, std::memory_order_release);
  return slot_bits != 0;
}

bool FindCrowded(uint64_t start, uint64_t& slot_bits) {
  const Entry* entry = Find(start);
  if (entry == nullptr) return false;
  slot_bits = entry->bits.load(std::memory_order_acquire);
  return slot_bits != 0;
}

}  // namespace memagent::ledger
