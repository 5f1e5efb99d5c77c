#include "agent/runtime/site_counts.h"

#include <algorithm>

#include "agent/ledger/site_table.h"
#include "agent/ledger/thread_record.h"

namespace memagent::runtime {

using attribute::RegionCounts;

namespace {

int64_t LiveBytes(const RegionCounts& counts) {
  return static_cast<int64_t>(counts.inherited_bytes + counts.bytes_allocated - counts.bytes_freed);
}

}  // namespace

SiteCounts::SiteCounts(const attribute::RegionIndex& regions)
    : regions_(regions), last_site_(ledger::SiteCount()) {
  AddThreads();
  Sum();
}

void SiteCounts::AddThreads() {
  ledger::ForEachThread([this](ledger::ThreadRecord* record) {
    record->counters.ForEach([this](SiteId site, const ledger::SiteDelta& entry) {
      constexpr auto kRelaxed = std::memory_order_relaxed;
      Delta& delta = deltas_[static_cast<uint32_t>(site)];
      delta.allocations += entry.allocations.load(kRelaxed);
      delta.frees += entry.frees.load(kRelaxed);
      delta.bytes_allocated += entry.bytes_allocated.load(kRelaxed);
      delta.bytes_freed += entry.bytes_freed.load(kRelaxed);
      delta.highest_peak = std::max(delta.highest_peak, int64_t{entry.peak.load(kRelaxed)});
    });
  });
}

SiteCount SiteCounts::Of(SiteId site) const {
  const auto estimate = estimates_.find(static_cast<uint32_t>(site));
  if (estimate == estimates_.end()) return {Tracked(site), {}};
  return estimate->second.Total(Tracked(site));
}

RegionCounts SiteCounts::Tracked(SiteId site) const {
  RegionCounts counts;
  if (static_cast<uint32_t>(site) > last_site_) return counts;
  const auto region = regions_.counts().find(static_cast<uint32_t>(site));
  if (region != regions_.counts().end()) return region->second;
  const ledger::SiteCounters* total = ledger::CountersOf(site);
  if (total == nullptr) return counts;
  constexpr auto kRelaxed = std::memory_order_relaxed;
  counts.allocations = total->allocations.load(kRelaxed);
  counts.frees = total->frees.load(kRelaxed);
  counts.bytes_allocated = total->bytes_allocated.load(kRelaxed);
  counts.bytes_freed = total->bytes_freed.load(kRelaxed);
  counts.inherited_blocks = total->inherited_blocks;
  counts.inherited_bytes = total->inherited_bytes;
  auto peak = total->bytes_peak.load(kRelaxed);
  if (const auto it = deltas_.find(static_cast<uint32_t>(site)); it != deltas_.end()) {
    const Delta& delta = it->second;
    const int64_t live = LiveBytes(counts);
    peak = std::max(peak, live + delta.highest_peak);
    counts.allocations += delta.allocations;
    counts.frees += delta.frees;
    counts.bytes_allocated += delta.bytes_allocated;
    counts.bytes_freed += delta.bytes_freed;
  }
  counts.bytes_peak = static_cast<uint64_t>(std::max({peak, LiveBytes(counts), int64_t{0}}));
  return counts;
}

void SiteCounts::Sum() {
  for (uint32_t id = 1; id <= last_site_; ++id) {
    const RegionCounts counts = Tracked(SiteId{id});
    allocations_ += counts.allocations;
    live_blocks_ += counts.inherited_blocks + counts.allocations - counts.frees;
    const ledger::SiteCounters* site = ledger::CountersOf(SiteId{id});
    if (site == nullptr || !site->of_picked_blocks()) continue;
    estimates_[static_cast<uint32_t>(ledger::PrimarySite(SiteId{id}))].Add(counts, site->picked);
  }
}

}  // namespace memagent::runtime
