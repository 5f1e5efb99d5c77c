#include "agent/runtime/placement_report.h"

#include "agent/capture/placement.h"
#include "agent/ledger/site_table.h"

namespace memagent::runtime {
namespace {

constexpr size_t kMostSites = 256;  // of one rule, by name; all are counted

struct Matched {
  base::Vector<uint32_t> sites;
  uint64_t count = 0;
  uint64_t heap_blocks = 0;  // allocated by them
};

// An id that is being made has no kind yet: it is looked at next time.
bool CanBePlaced(const ledger::SiteCounters* site) {
  if (site == nullptr) return false;
  const RegionKind kind = site->kind.load(std::memory_order_acquire);
  return (kind == RegionKind::kHeap || kind == RegionKind::kMmap) && !site->of_picked_blocks();
}

void Note(SiteId id, const SiteCounts& counts, Matched& matched) {
  const SiteCount count = counts.Of(id);
  if (!count.any()) return;
  ++matched.count;
  if (matched.sites.size() < kMostSites) matched.sites.push_back(static_cast<uint32_t>(id));
  if (ledger::CountersOf(id)->kind == RegionKind::kHeap) matched.heap_blocks += count.allocations;
}

profile::AppliedPlacementData Describe(const base::PlacementRule& rule,
                                       const capture::PlacementCounts& counts,
                                       const Matched& matched) {
  profile::AppliedPlacementData data;
  data.rule = rule.text;
  data.sites = rule.meaning;
  data.blocks = counts.blocks;
  data.bytes = counts.bytes;
  // The counts are read one after the other while the program runs.
  if (matched.heap_blocks > counts.heap_blocks_tried) {
    data.too_small_blocks = matched.heap_blocks - counts.heap_blocks_tried;
  }
  data.refused_calls = counts.refused_calls;
  data.refused_errno = counts.refused_errno;
  data.site_ids = matched.sites;
  data.over_limit_blocks = counts.over_limit_blocks;
  data.moved_blocks = counts.moved_blocks;
  data.freed_blocks = counts.freed_blocks;
  data.sites_matched = matched.count;
  data.uncut_mappings = counts.uncut_mappings;
  data.overruled_calls = counts.overruled_calls;
  return data;
}

}  // namespace

int PlacementReport::RuleOf(uint32_t site, const StackExport& stacks) {
  const int decided = capture::PlacementOf(SiteId{site});
  if (decided != capture::kPlacementUndecided) return decided;
  const auto [known, fresh] = rules_of_small_.try_emplace(site, capture::kNoPlacement);
  if (fresh) {
    const ledger::SiteCounters* counters = ledger::CountersOf(SiteId{site});
    known->second = capture::RuleOfStack(
        capture::PlacementRules(), counters->kind, counters->stack,
        [&stacks](uint64_t address) { return stacks.PlaceOfCall(address); });
  }
  return known->second;
}

void PlacementReport::Write(const SiteCounts& counts, const StackExport& stacks,
                            profile::ProfileWriter& writer) {
  const auto rules = capture::PlacementRules();
  if (rules.empty()) return;
  base::Vector<Matched> matched(rules.size());
  for (uint32_t id = 1; id <= ledger::SiteCount(); ++id) {
    if (!CanBePlaced(ledger::CountersOf(SiteId{id}))) continue;
    const int rule = RuleOf(id, stacks);
    if (rule >= 0) Note(SiteId{id}, counts, matched[static_cast<size_t>(rule)]);
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    writer.AddAppliedPlacement(Describe(rules[i], capture::ReadPlacementCounts(i), matched[i]));
  }
}

}  // namespace memagent::runtime
