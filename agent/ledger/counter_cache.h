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
  std::atomic<int32_t> allocations;
  std::atomic<int32_t> frees;  // below 0 when a counted free was taken back
  std::atomic<uint64_t> bytes_allocated;
  std::atomic<uint64_t> bytes_freed;
  std::atomic<int64_t> peak;  // highest bytes_allocated - bytes_freed of this delta, >= 0
};

class CounterCache {
 public:
  static constexpr uint32_t kEntries = 256;

  // Owner thread.
  void CountAllocation(SiteId site, uint64_t bytes) {
    SiteDelta& entry = EntryFor(site);
    Add(entry.allocations, 1);
    Add(entry.bytes_allocated, bytes);
    const int64_t live = LiveDelta(entry);
    if (live > entry.peak.load(std::memory_order_relaxed)) {
      entry.peak.store(live, std::memory_order_relaxed);
    }
    if (live >= kFlushBytes || entry.allocations.load(std::memory_order_relaxed) > kFlushAfter) {
      Flush(entry);
    }
  }
  void CountFree(SiteId site, uint64_t bytes) {
    SiteDelta& entry = EntryFor(site);
    Add(entry.frees, 1);
    Add(entry.bytes_freed, bytes);
    if (LiveDelta(entry) <= -kFlushBytes ||
        entry.frees.load(std::memory_order_relaxed) > kFlushAfter) {
      Flush(entry);
    }
  }
  // Takes back a CountFree (a realloc that failed).
  void UncountFree(SiteId site, uint64_t bytes) {
    SiteDelta& entry = EntryFor(site);
    Add(entry.frees, -1);
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
  // Keeps 32-bit counts far from wrapping.
  static constexpr int32_t kFlushAfter = 1 << 30;
  // What one thread allocates and another frees meets in the global counters at the latest when the
  // two differ by this much: the error of a shared site's peak is below this for each thread.
  static constexpr int64_t kFlushBytes = int64_t{32} << 10;

  static int64_t LiveDelta(const SiteDelta& entry) {
    return static_cast<int64_t>(entry.bytes_allocated.load(std::memory_order_relaxed) -
                                entry.bytes_freed.load(std::memory_order_relaxed));
  }

  template <typename T>
  static void Add(std::atomic<T>& counter, T amount) {  // single writer: no locked instruction
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }

  SiteDelta& EntryFor(SiteId site) {
    const auto id = static_cast<uint32_t>(site);
    SiteDelta& entry = entries_[id % kEntries];
    if (__builtin_expect(entry.site.load(std::memory_order_relaxed) != id, 0)) Replace(entry, id);
    return entry;
  }
  void Replace(SiteDelta& entry, uint32_t site);
  static void Flush(SiteDelta& entry);

  SiteDelta entries_[kEntries];
};

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_COUNTER_CACHE_H_
