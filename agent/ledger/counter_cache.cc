#include "agent/ledger/counter_cache.h"

#include <algorithm>

#include "agent/ledger/site_table.h"

namespace memagent::ledger {
namespace {

void RaisePeak(std::atomic<int64_t>& peak, int64_t candidate) {
  int64_t seen = peak.load(std::memory_order_relaxed);
  while (candidate > seen &&
         !peak.compare_exchange_weak(seen, candidate, std::memory_order_relaxed)) {
  }
}

// Other threads may be flushing. Flush adds what was freed first, and here what was allocated is
// read first: so half a flush makes the result too small for a moment, never too big for ever.
int64_t LiveBytes(const SiteCounters& counters) {
  const uint64_t allocated = counters.bytes_allocated.load(std::memory_order_acquire);
  return static_cast<int64_t>(allocated - counters.bytes_freed.load(std::memory_order_relaxed));
}

}  // namespace

[[gnu::noinline]] void CounterCache::Flush(SiteDelta& entry, int64_t peak) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  SiteCounters* total = CountersOf(SiteId{entry.site.load(std::memory_order_relaxed)});
  if (total != nullptr) {
    peak = std::max(peak, int64_t{entry.peak.load(kRelaxed)});
    RaisePeak(total->bytes_peak, LiveBytes(*total) + peak);
    total->allocations.fetch_add(entry.allocations.load(kRelaxed), kRelaxed);
    total->frees.fetch_add(entry.frees.load(kRelaxed), kRelaxed);
    total->bytes_freed.fetch_add(entry.bytes_freed.load(kRelaxed), kRelaxed);
    total->bytes_allocated.fetch_add(entry.bytes_allocated.load(kRelaxed),
                                     std::memory_order_release);
  }
  entry.allocations.store(0, kRelaxed);
  entry.frees.store(0, kRelaxed);
  entry.bytes_allocated.store(0, kRelaxed);
  entry.bytes_freed.store(0, kRelaxed);
  entry.peak.store(0, kRelaxed);
}

[[gnu::noinline, gnu::cold]] void CounterCache::Replace(SiteDelta& entry, uint32_t site) {
  if (entry.site.load(std::memory_order_relaxed) != 0) Flush(entry, 0);
  entry.site.store(site, std::memory_order_release);
}

void CounterCache::FlushAll() {
  for (SiteDelta& entry : entries_) {
    if (entry.site.load(std::memory_order_relaxed) != 0) Flush(entry, 0);
  }
}

}  // namespace memagent::ledger
