#include "agent/ledger/counter_cache.h"

#include "agent/ledger/site_table.h"

namespace memagent::ledger {
namespace {

void RaisePeak(std::atomic<int64_t>& peak, int64_t candidate) {
  int64_t seen = peak.load(std::memory_order_relaxed);
  while (candidate > seen &&
         !peak.compare_exchange_weak(seen, candidate, std::memory_order_relaxed)) {
  }
}

// A signed delta as an addend of an unsigned total.
uint64_t Signed(const std::atomic<int32_t>& delta) {
  return static_cast<uint64_t>(int64_t{delta.load(std::memory_order_relaxed)});
}

// Other threads may be flushing. Flush adds what was freed first, and here what was allocated is
// read first: so half a flush makes the result too small for a moment, never too big for ever.
int64_t LiveBytes(const SiteCounters& counters) {
  const uint64_t allocated = counters.bytes_allocated.load(std::memory_order_acquire);
  return static_cast<int64_t>(allocated - counters.bytes_freed.load(std::memory_order_relaxed));
}

}  // namespace

void CounterCache::Flush(SiteDelta& entry) {
  SiteCounters* total = CountersOf(SiteId{entry.site.load(std::memory_order_relaxed)});
  if (total != nullptr) {
    RaisePeak(total->bytes_peak, LiveBytes(*total) + entry.peak.load(std::memory_order_relaxed));
    total->allocations.fetch_add(Signed(entry.allocations), std::memory_order_relaxed);
    total->frees.fetch_add(Signed(entry.frees), std::memory_order_relaxed);
    total->bytes_freed.fetch_add(entry.bytes_freed.load(std::memory_order_relaxed),
                                 std::memory_order_relaxed);
    total->bytes_allocated.fetch_add(entry.bytes_allocated.load(std::memory_order_relaxed),
                                     std::memory_order_release);
  }
  entry.allocations.store(0, std::memory_order_relaxed);
  entry.frees.store(0, std::memory_order_relaxed);
  entry.bytes_allocated.store(0, std::memory_order_relaxed);
  entry.bytes_freed.store(0, std::memory_order_relaxed);
  entry.peak.store(0, std::memory_order_relaxed);
}

[[gnu::noinline, gnu::cold]] void CounterCache::Replace(SiteDelta& entry, uint32_t site) {
  if (entry.site.load(std::memory_order_relaxed) != 0) Flush(entry);
  entry.site.store(site, std::memory_order_release);
}

void CounterCache::FlushAll() {
  for (SiteDelta& entry : entries_) {
    if (entry.site.load(std::memory_order_relaxed) != 0) Flush(entry);
  }
}

}  // namespace memagent::ledger
