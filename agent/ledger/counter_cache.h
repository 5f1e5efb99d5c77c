// Thread-local deltas of site counters, so that a hot site shared by threads costs no contended
// cache line. Direct-mapped; an entry is flushed into the global counters when another site needs
// its place, and read by the drain thread where it stands.
//
// The peak of live bytes is exact for a site used by one thread. Where threads share a site it is
// an estimate: at each flush, what all had flushed so far plus this thread's own peak since its
// last flush. Too low by what others had not flushed; too high when the peaks were at different
// times.
#ifndef MEMAGENT_AGENT_LEDGER_COUNTER_CACHE_H_
#define MEMAGENT_AGENT_LEDGER_COUNTER_CACHE_H_

#include <atomic>
#include <cstdint>

#include "agent/base/types.h"

namespace memagent::ledger {

// What a site did since the last flush.
struct SiteDelta {
  std::atomic<uint32_t> site;
  std::atomic<int32_t> peak;  // highest bytes_allocated - bytes_freed of this delta, >= 0
  std::atomic<uint64_t> allocations;
  std::atomic<uint64_t> frees;  // modulo 2^64: below 0 when a counted free was taken back
  std::atomic<uint64_t> bytes_allocated;
  std::atomic<uint64_t> bytes_freed;
};

class CounterCache {
 public:
  static constexpr uint32_t kEntries = 256;

  // Owner thread.
  void CountAllocation(SiteId site, uint64_t bytes) {
    SiteDelta& entry = EntryFor(site);
    Add(entry.allocations, 1);
    const int64_t live = Difference(Add(entry.bytes_allocated, bytes), entry.bytes_freed);
    if (live > entry.peak.load(std::memory_order_relaxed)) {
      if (live >= kFlushBytes) [[unlikely]]
        return Flush(entry, live);
      entry.peak.store(static_cast<int32_t>(live), std::memory_order_relaxed);
    }
  }
  void CountFree(SiteId site, uint64_t bytes) {
    SiteDelta& entry = EntryFor(site);
    Add(entry.frees, 1);
    const int64_t fewer = Difference(Add(entry.bytes_freed, bytes), entry.bytes_allocated);
    if (fewer >= kFlushBytes) [[unlikely]]
      Flush(entry, 0);
  }
  // Takes back a CountFree (a realloc that failed).
  void UncountFree(SiteId site, uint64_t bytes) {
    SiteDelta& entry = EntryFor(site);
    Add(entry.frees, ~uint64_t{0});
    Add(entry.bytes_freed, 0 - bytes);
  }

  // Owner thread, or the drain thread once the owner is gone.
  void FlushAll();

  // Drain thread: calls visit(SiteId, delta) for each entry in use. Entries are read as they stand:
  // an owner that runs on may be one event ahead, or just be giving an entry to another site.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const SiteDelta& entry : entries_) {
      const uint32_t site = entry.site.load(std::memory_order_acquire);
      if (site != 0) visit(SiteId{site}, entry);
    }
  }

 private:
  // What one thread allocates and another frees meets in the global counters at the latest when the
  // two differ by this much: the error of a shared site's peak is below this for each thread.
  static constexpr int64_t kFlushBytes = int64_t{32} << 10;

  // Single writer: no locked instruction.
  static uint64_t Add(std::atomic<uint64_t>& counter, uint64_t amount) {
    const uint64_t sum = counter.load(std::memory_order_relaxed) + amount;
    counter.store(sum, std::memory_order_relaxed);
    return sum;
  }
  static int64_t Difference(uint64_t sum, const std::atomic<uint64_t>& other) {
    return static_cast<int64_t>(sum - other.load(std::memory_order_relaxed));
  }

  SiteDelta& EntryFor(SiteId site) {
    const auto id = static_cast<uint32_t>(site);
    SiteDelta& entry = entries_[id % kEntries];
    if (__builtin_expect(entry.site.load(std::memory_order_relaxed) != id, 0)) Replace(entry, id);
    return entry;
  }
  void Replace(SiteDelta& entry, uint32_t site);
  // `peak`: the highest `live` may have been this, too.
  static void Flush(SiteDelta& entry, int64_t peak);

  SiteDelta entries_[kEntries];
};

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_COUNTER_CACHE_H_
