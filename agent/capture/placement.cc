#include "agent/capture/placement.h"

#include <errno.h>

#include "agent/capture/placed_blocks.h"
#include "agent/capture/unwind_objects.h"
#include "agent/ledger/site_table.h"
#include "agent/os/machine.h"
#include "agent/os/memory_placement.h"

namespace memagent::capture {

constinit std::atomic<bool> placing{false};

namespace {

using base::PlacementKind;
using base::PlacementRule;

// Values of SiteCounters::placement: a rule is its index and this.
constexpr uint8_t kUndecided = 0;
constexpr uint8_t kNoRule = 1;
constexpr uint8_t kFirstRule = 2;

constexpr auto kRelaxed = std::memory_order_relaxed;

struct Counts {
  std::atomic<uint64_t> blocks;
  std::atomic<uint64_t> bytes;
  std::atomic<uint64_t> moved_blocks;
  std::atomic<uint64_t> heap_blocks_tried;
  std::atomic<uint64_t> over_limit_blocks;
  std::atomic<uint64_t> freed_blocks;
  std::atomic<uint64_t> refused_calls;
  std::atomic<int32_t> refused_errno;
};

// Written before `placing` is set.
constinit std::span<const PlacementRule> all_rules;
constinit uint64_t page_bytes = 4096;
constinit PlacedBlocks placed;
constinit Counts all_counts[kMaxPlacementRules];

// The stack is the calling thread's own: what it leads through is loaded and stays while it is
// looked at.
uint8_t Decide(const ledger::SiteCounters& site) {
  const RegionKind kind = site.kind.load(std::memory_order_acquire);
  if (kind != RegionKind::kHeap && kind != RegionKind::kMmap) return kNoRule;
  const int rule = RuleOfStack(all_rules, kind, site.stack, PlaceOfCode);
  return rule == kNoPlacement ? kNoRule : static_cast<uint8_t>(kFirstRule + rule);
}

void CountRefusal(Counts& counts, long result) {
  int32_t none = 0;
  counts.refused_errno.compare_exchange_strong(none, static_cast<int32_t>(-result), kRelaxed);
  counts.refused_calls.fetch_add(1, kRelaxed);
}

// Each part of a block gets a policy of its own, by which mappings are split.
uint32_t PiecesOf(const PlacementRule& rule) {
  return rule.kind == PlacementKind::kBlock ? rule.node_count + 1u : 2;
}

long SetParts(const PlacementRule& rule, const os::PageRange& pages, bool move) {
  for (uint32_t i = 0; i < rule.node_count; ++i) {
    const os::PageRange part = os::PartOf(pages, i, rule.node_count, page_bytes);
    if (part.empty()) continue;
    const auto node = rule.node_list().subspan(i, 1);
    const long result = os::SetPolicy(part, os::PolicyMode::kPreferred, node, move);
    if (result < 0) return result;
  }
  return 0;
}

long Set(const PlacementRule& rule, const os::PageRange& pages, bool move) {
  switch (rule.kind) {
    case PlacementKind::kBind:
      return os::SetPolicy(pages, os::PolicyMode::kPreferred, rule.node_list(), move);
    case PlacementKind::kInterleave:
      return os::SetPolicy(pages, os::PolicyMode::kInterleave, rule.node_list(), move);
    case PlacementKind::kBlock:
      return SetParts(rule, pages, move);
    case PlacementKind::kLocal:
      return os::SetPolicy(pages, os::PolicyMode::kLocal, {}, false);
    case PlacementKind::kHuge:
      return os::AdviseHugePages(pages, true);
    case PlacementKind::kNoHuge:
      break;
  }
  return os::AdviseHugePages(pages, false);
}

// The rule of a site that the calling thread has just got memory from.
int DecidedRule(SiteId site) {
  ledger::SiteCounters* counters = ledger::CountersOf(site);
  if (counters != nullptr && counters->placement.load(kRelaxed) == kUndecided) {
    counters->placement.store(Decide(*counters), kRelaxed);
  }
  return PlacementOf(site);
}

bool TakesNodes(const PlacementRule& rule) { return rule.kind <= PlacementKind::kBlock; }
bool IsPolicy(const PlacementRule& rule) { return rule.kind <= PlacementKind::kLocal; }

// Memory from the allocator's stock has pages already, and so has what realloc copied. Moving makes
// the kernel wait for all CPUs (lru_add_drain_all), so it is only asked for where there are any.
bool Apply(const PlacementRule& rule, Counts& counts, uint64_t start, uint64_t size) {
  const os::PageRange pages = os::PagesInside(start, size, page_bytes);
  if (pages.empty()) return false;
  const bool move = TakesNodes(rule) && os::HasPages(pages, page_bytes);
  const long result = Set(rule, pages, move);
  if (result < 0) {
    CountRefusal(counts, result);
    if (rule.kind == PlacementKind::kBlock) {
      os::SetPolicy(pages, os::PolicyMode::kDefault, {}, false);
    }
    return false;
  }
  counts.moved_blocks.fetch_add(move ? 1 : 0, kRelaxed);
  return true;
}

bool ApplyToBlock(int index, uint64_t start, uint64_t size) {
  const PlacementRule& rule = all_rules[static_cast<size_t>(index)];
  Counts& counts = all_counts[index];
  if (!placed.Add(start, PiecesOf(rule))) {
    counts.over_limit_blocks.fetch_add(1, kRelaxed);
    return false;
  }
  if (Apply(rule, counts, start, size)) return true;
  placed.Remove(start, PiecesOf(rule));
  return false;
}

void CountPlaced(Counts& counts, uint64_t size) {
  counts.blocks.fetch_add(1, kRelaxed);
  counts.bytes.fetch_add(size, kRelaxed);
}

}  // namespace

void SetPlacementRules(std::span<const PlacementRule> rules) {
  all_rules = rules.first(rules.size() < kMaxPlacementRules ? rules.size() : kMaxPlacementRules);
  page_bytes = os::PageBytes();
  placing.store(!all_rules.empty() && placed.Initialise(), std::memory_order_release);
}

std::span<const PlacementRule> PlacementRules() {
  return IsPlacing() ? all_rules : std::span<const PlacementRule>();
}

int PlacementOf(SiteId site) {
  const ledger::SiteCounters* counters = ledger::CountersOf(site);
  if (counters == nullptr) return kNoPlacement;
  const uint8_t decided = counters->placement.load(kRelaxed);
  if (decided == kUndecided) return kPlacementUndecided;
  return decided == kNoRule ? kNoPlacement : decided - kFirstRule;
}

[[gnu::noinline, gnu::cold]] void PlaceBlock(SiteId site, uint64_t start, uint64_t size) {
  const int rule = DecidedRule(site);
  if (rule < 0) return;
  all_counts[rule].heap_blocks_tried.fetch_add(1, kRelaxed);
  if (ApplyToBlock(rule, start, size)) CountPlaced(all_counts[rule], size);
}

[[gnu::noinline, gnu::cold]] void PlaceBlockAgain(SiteId site, uint64_t start, uint64_t size) {
  const int rule = PlacementOf(site);
  if (rule >= 0) ApplyToBlock(rule, start, size);
}

// Whoever gets this memory next must not inherit the policy. There is no way back to no advice
// about huge pages: that stays.
[[gnu::noinline, gnu::cold]] void UnplaceBlock(SiteId site, uint64_t start, uint64_t size) {
  const int index = PlacementOf(site);
  if (index < 0) return;
  const PlacementRule& rule = all_rules[static_cast<size_t>(index)];
  if (!placed.Remove(start, PiecesOf(rule)) || !IsPolicy(rule)) return;
  const os::PageRange pages = os::PagesInside(start, size, page_bytes);
  const long result = os::SetPolicy(pages, os::PolicyMode::kDefault, {}, false);
  if (result < 0) return CountRefusal(all_counts[index], result);
  all_counts[index].freed_blocks.fetch_add(1, kRelaxed);
}

// Unmapping takes the policy with it: nothing has to be remembered. mremap refuses memory that was cut
// into several mappings, and these don't grow together again once they have pages: so a mapping is
// never cut.
[[gnu::noinline, gnu::cold]] void PlaceMapping(SiteId site, uint64_t start, uint64_t size) {
  const int rule = DecidedRule(site);
  if (rule < 0) return;
  if (all_rules[static_cast<size_t>(rule)].kind == PlacementKind::kBlock) {
    return CountRefusal(all_counts[rule], -EOPNOTSUPP);
  }
  const uint64_t end = (start + size + page_bytes - 1) / page_bytes * page_bytes;
  if (Apply(all_rules[static_cast<size_t>(rule)], all_counts[rule], start, end - start)) {
    CountPlaced(all_counts[rule], size);
  }
}

PlacementCounts ReadPlacementCounts(size_t rule) {
  const Counts& counts = all_counts[rule];
  return {counts.blocks.load(kRelaxed),
          counts.bytes.load(kRelaxed),
          counts.moved_blocks.load(kRelaxed),
          counts.heap_blocks_tried.load(kRelaxed),
          counts.over_limit_blocks.load(kRelaxed),
          counts.freed_blocks.load(kRelaxed),
          counts.refused_calls.load(kRelaxed),
          counts.refused_errno.load(kRelaxed)};
}

void ForgetPlacementCounts() {
  for (Counts& counts : all_counts) {
    for (auto* count :
         {&counts.blocks, &counts.bytes, &counts.moved_blocks, &counts.heap_blocks_tried,
          &counts.over_limit_blocks, &counts.freed_blocks, &counts.refused_calls}) {
      count->store(0, kRelaxed);
    }
    counts.refused_errno.store(0, kRelaxed);
  }
}

}  // namespace memagent::capture
