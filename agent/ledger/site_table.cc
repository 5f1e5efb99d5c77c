#include "agent/ledger/site_table.h"

#include "agent/base/arena.h"

namespace memagent::ledger {
namespace {

constexpr uint32_t kSitesPerChunk = 1024;  // 64 KiB of counters
constexpr uint32_t kSiteChunks = (kMaxSites + 1) / kSitesPerChunk;
constexpr uint32_t kStacksPerChunk = 16384;  // 64 KiB of site ids
constexpr uint32_t kStackChunks = kMaxStacks / kStacksPerChunk;
constexpr int kStackKinds = 4;

constinit std::atomic<SiteCounters*> site_chunks[kSiteChunks];
using StackChunk = std::atomic<uint32_t>;
constinit std::atomic<StackChunk*> stack_chunks[kStackKinds][kStackChunks];
// Tables like those above, mapped when a way of being picked is first met.
using StackTable = std::atomic<StackChunk*>;
constinit std::atomic<StackTable*> picked_tables[kMaxMeanLog2 + 1][kMaxMeanLog2 + 1];
constinit std::atomic<uint32_t> sites_given{0};

// The chunk in `cell`, made when missing; nullptr when memory is refused.
template <typename T>
T* ChunkIn(std::atomic<T*>& cell, size_t bytes) {
  T* chunk = cell.load(std::memory_order_acquire);
  if (chunk != nullptr) return chunk;
  auto* fresh = static_cast<T*>(base::MapPages(bytes, base::MemoryUse::kSites));
  if (fresh == nullptr) return nullptr;
  if (cell.compare_exchange_strong(chunk, fresh, std::memory_order_acq_rel)) return fresh;
  base::UnmapPages(fresh, bytes, base::MemoryUse::kSites);
  return chunk;
}

int KindIndex(RegionKind kind) {
  switch (kind) {
    case RegionKind::kHeap:
      return 0;
    case RegionKind::kMmap:
      return 1;
    case RegionKind::kBrk:
      return 2;
    default:
      return 3;
  }
}

SiteId Make(RegionKind kind, StackId stack, PickClass picked) {
  // Release: who sees the id in SiteCount() sees the whole stack, which was there before it.
  const uint32_t id = sites_given.fetch_add(1, std::memory_order_release) + 1;
  if (id > kMaxSites) {
    sites_given.store(kMaxSites, std::memory_order_relaxed);
    return SiteId::kUnknown;
  }
  SiteCounters* chunk =
      ChunkIn(site_chunks[id / kSitesPerChunk], kSitesPerChunk * sizeof(SiteCounters));
  if (chunk == nullptr) return SiteId::kUnknown;
  SiteCounters& site = chunk[id % kSitesPerChunk];
  site.picked = picked;
  site.stack = stack;
  site.kind.store(kind, std::memory_order_release);
  return SiteId{id};
}

// The site of `stack` in `table`, made when new.
inline SiteId SiteIn(StackTable* table, RegionKind kind, StackId stack, PickClass picked) {
  const auto index = static_cast<uint32_t>(stack);
  if (index >= kMaxStacks) return SiteId::kUnknown;
  auto* chunk = ChunkIn(table[index / kStacksPerChunk], kStacksPerChunk * sizeof(StackChunk));
  if (chunk == nullptr) return SiteId::kUnknown;
  StackChunk& cell = chunk[index % kStacksPerChunk];
  uint32_t known = cell.load(std::memory_order_acquire);
  if (known != 0) return SiteId{known};
  const SiteId fresh = Make(kind, stack, picked);
  if (fresh == SiteId::kUnknown) return fresh;
  if (cell.compare_exchange_strong(known, static_cast<uint32_t>(fresh),
                                   std::memory_order_acq_rel)) {
    return fresh;
  }
  // Another thread was faster: this id stays unused. The drain thread may be reading the rest.
  CountersOf(fresh)->kind.store(RegionKind::kUnknown, std::memory_order_relaxed);
  return SiteId{known};
}

}  // namespace

SiteId SiteOfStack(RegionKind kind, StackId stack) {
  return SiteIn(stack_chunks[KindIndex(kind)], kind, stack, {});
}

SiteId SiteOfPicked(StackId stack, PickClass picked) {
  const SiteId primary = SiteOfStack(RegionKind::kHeap, stack);
  if (picked.certain() || primary == SiteId::kUnknown) return primary;
  StackTable* table =
      ChunkIn(picked_tables[picked.mean_log2][picked.size_log2], kStackChunks * sizeof(StackTable));
  return table == nullptr ? SiteId::kUnknown : SiteIn(table, RegionKind::kHeap, stack, picked);
}

SiteId PrimarySite(SiteId site) {
  const SiteCounters* counters = CountersOf(site);
  if (counters == nullptr || counters->picked.certain()) return site;
  return SiteOfStack(counters->kind, counters->stack);
}

SiteId NewSite(RegionKind kind) { return Make(kind, StackId::kNone, {}); }

SiteCounters* CountersOf(SiteId site) {
  const auto id = static_cast<uint32_t>(site);
  if (id == 0 || id > kMaxSites) return nullptr;
  SiteCounters* chunk = site_chunks[id / kSitesPerChunk].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : &chunk[id % kSitesPerChunk];
}

void InheritLiveBlocks() {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  for (uint32_t id = 1; id <= SiteCount(); ++id) {
    SiteCounters* site = CountersOf(SiteId{id});
    // A page that is not written to stays shared with the parent.
    if (site == nullptr || site->allocations.load(kRelaxed) + site->frees.load(kRelaxed) == 0)
      continue;
    site->inherited_blocks +=
        site->allocations.exchange(0, kRelaxed) - site->frees.exchange(0, kRelaxed);
    site->inherited_bytes +=
        site->bytes_allocated.exchange(0, kRelaxed) - site->bytes_freed.exchange(0, kRelaxed);
    site->bytes_peak.store(static_cast<int64_t>(site->inherited_bytes), kRelaxed);
  }
}

uint32_t SiteCount() {
  const uint32_t given = sites_given.load(std::memory_order_acquire);
  return given < kMaxSites ? given : kMaxSites;
}

}  // namespace memagent::ledger
