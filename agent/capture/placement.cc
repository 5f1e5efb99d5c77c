#include "agent/capture/placement.h"

#include <algorithm>
#include <optional>

#include "agent/capture/mapping_budget.h"
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

// Of PlacementCounts, in its order.
struct Counts {
  std::atomic<uint64_t> blocks;
  std::atomic<uint64_t> bytes;
  std::atomic<uint64_t> moved_blocks;
  std::atomic<uint64_t> heap_blocks_tried;
  std::atomic<uint64_t> over_limit_blocks;
  std::atomic<uint64_t> freed_blocks;
  std::atomic<uint64_t> uncut_mappings;
  std::atomic<uint64_t> overruled_calls;
  std::atomic<uint64_t> refused_calls;
  std::atomic<int32_t> refused_errno;
};

// Written before `placing` is set.
constinit std::span<const PlacementRule> all_rules;
constinit uint64_t page_bytes = 4096;
constinit PlacedBlocks placed;
constinit MappingBudget mapping_budget;
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

// Mappings that a placement may add: each part of a block has a policy of its own.
uint32_t MappingsOf(const PlacementRule& rule) {
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

long Interleave(const os::PageRange& pages, std::span<const uint16_t> nodes, bool move) {
  const long result = os::SetPolicy(pages, os::PolicyMode::kInterleave, nodes, move);
  return result < 0 || !move ? result : os::MoveRoundNodes(pages, page_bytes, nodes);
}

long Set(const PlacementRule& rule, const os::PageRange& pages, bool move) {
  switch (rule.kind) {
    case PlacementKind::kBind:
      return os::SetPolicy(pages, os::PolicyMode::kPreferred, rule.node_list(), move);
    case PlacementKind::kInterleave:
      return Interleave(pages, rule.node_list(), move);
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

enum class Outcome { kPlaced, kPlacedAndMoved, kRefused };

// Memory from the allocator's stock has pages already, and so has what realloc copied. Moving makes
// the kernel wait for all CPUs (lru_add_drain_all), so it is only asked for where there may be any.
// A call that was refused half way may have set a part.
Outcome Apply(const PlacementRule& rule, Counts& counts, const os::PageRange& pages) {
  const bool move = TakesNodes(rule) && os::MayHavePages(pages, page_bytes);
  const long result = Set(rule, pages, move);
  if (result >= 0) return move ? Outcome::kPlacedAndMoved : Outcome::kPlaced;
  CountRefusal(counts, result);
  if (IsPolicy(rule)) os::SetPolicy(pages, os::PolicyMode::kDefault, {}, false);
  return Outcome::kRefused;
}

os::PageRange PagesOf(const PlacedBlock& block) {
  if (!block.mapping) return os::PagesInside(block.start, block.size, page_bytes);
  return {block.start, (block.end() + page_bytes - 1) / page_bytes * page_bytes};
}

void CountPlaced(Counts& counts, uint64_t size, Outcome outcome) {
  if (outcome == Outcome::kRefused) return;
  counts.blocks.fetch_add(1, kRelaxed);
  counts.bytes.fetch_add(size, kRelaxed);
  counts.moved_blocks.fetch_add(outcome == Outcome::kPlacedAndMoved ? 1 : 0, kRelaxed);
}

// Nothing where too many blocks are placed, or there are too many mappings.
std::optional<Outcome> ApplyToBlock(const PlacedBlock& block) {
  const PlacementRule& rule = all_rules[block.rule];
  if (!mapping_budget.Take(MappingsOf(rule)) || !placed.Add(block)) return std::nullopt;
  const Outcome outcome = Apply(rule, all_counts[block.rule], PagesOf(block));
  if (outcome == Outcome::kRefused) placed.Remove(block.start);
  return outcome;
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
  const PlacedBlock block = {start, size, static_cast<uint32_t>(rule), false};
  if (PagesOf(block).empty()) return;  // counts as too small: a page of 64 KiB, say
  Counts& counts = all_counts[rule];
  counts.heap_blocks_tried.fetch_add(1, kRelaxed);
  const auto outcome = ApplyToBlock(block);
  if (!outcome) {
    counts.over_limit_blocks.fetch_add(1, kRelaxed);
  } else {
    CountPlaced(counts, size, *outcome);
  }
}

// It was counted when it was placed first.
[[gnu::noinline, gnu::cold]] void PlaceBlockAgain(SiteId site, uint64_t start, uint64_t size) {
  const int rule = PlacementOf(site);
  if (rule < 0) return;
  const PlacedBlock block = {start, size, static_cast<uint32_t>(rule), false};
  if (PagesOf(block).empty()) return;
  const auto outcome = ApplyToBlock(block);
  if (outcome && *outcome != Outcome::kRefused && IsPolicy(all_rules[block.rule])) {
    all_counts[rule].freed_blocks.fetch_sub(1, kRelaxed);
  }
}

// Whoever gets this memory next must not inherit the policy. There is no way back to no advice
// about huge pages: that stays.
[[gnu::noinline, gnu::cold]] void UnplaceBlock(SiteId site, uint64_t start, uint64_t size) {
  const int index = PlacementOf(site);
  if (index < 0 || !placed.Remove(start) || !IsPolicy(all_rules[static_cast<size_t>(index)]))
    return;
  const os::PageRange pages = os::PagesInside(start, size, page_bytes);
  const long result = os::SetPolicy(pages, os::PolicyMode::kDefault, {}, false);
  if (result < 0) return CountRefusal(all_counts[index], result);
  all_counts[index].freed_blocks.fetch_add(1, kRelaxed);
}

// Unmapping takes the policy with it. mremap refuses memory that was cut into several mappings, and
// these don't grow together again once they have pages: so a mapping is never cut.
[[gnu::noinline, gnu::cold]] void PlaceMapping(SiteId site, uint64_t start, uint64_t size) {
  placed.ForgetMappings(start, start + size, false);
  const int rule = DecidedRule(site);
  if (rule < 0) return;
  Counts& counts = all_counts[rule];
  if (all_rules[static_cast<size_t>(rule)].kind == PlacementKind::kBlock) {
    counts.uncut_mappings.fetch_add(1, kRelaxed);
    return;
  }
  const PlacedBlock mapping = {start, size, static_cast<uint32_t>(rule), true};
  if (!mapping_budget.Take(MappingsOf(all_rules[mapping.rule]))) {
    counts.over_limit_blocks.fetch_add(1, kRelaxed);
    return;
  }
  const Outcome outcome = Apply(all_rules[mapping.rule], counts, PagesOf(mapping));
  CountPlaced(counts, size, outcome);
  // When the table is full the program can place this mapping by itself, no more.
  if (outcome != Outcome::kRefused) placed.Add(mapping);
}

[[gnu::noinline, gnu::cold]] void UnplaceMapping(uint64_t start, uint64_t size) {
  placed.ForgetMappings(start, start + size, true);
}

// Of a mapping, only what the program has just named is surely still its own.
[[gnu::noinline, gnu::cold]] void Overrule(OwnPlacement kind, uint64_t start, uint64_t size) {
  placed.ForEachIn(start, start + size, [&](const PlacedBlock& block) {
    const PlacementRule& rule = all_rules[block.rule];
    if (IsPolicy(rule) != (kind == OwnPlacement::kPolicy)) return;
    os::PageRange pages = PagesOf(block);
    if (block.mapping) {
      pages.start = std::max(pages.start, start / page_bytes * page_bytes);
      pages.end = std::min(pages.end, (start + size + page_bytes - 1) / page_bytes * page_bytes);
    }
    Counts& counts = all_counts[block.rule];
    counts.overruled_calls.fetch_add(1, kRelaxed);
    if (!pages.empty()) Apply(rule, counts, pages);
  });
}

bool PlacementsWantMappingCount() { return IsPlacing() && mapping_budget.WantsCount(); }

void TellMappingCount(uint64_t mappings, uint64_t most) { mapping_budget.Tell(mappings, most); }

PlacementCounts ReadPlacementCounts(size_t rule) {
  const Counts& counts = all_counts[rule];
  return {counts.blocks.load(kRelaxed),
          counts.bytes.load(kRelaxed),
          counts.moved_blocks.load(kRelaxed),
          counts.heap_blocks_tried.load(kRelaxed),
          counts.over_limit_blocks.load(kRelaxed),
          counts.freed_blocks.load(kRelaxed),
          counts.uncut_mappings.load(kRelaxed),
          counts.overruled_calls.load(kRelaxed),
          counts.refused_calls.load(kRelaxed),
          counts.refused_errno.load(kRelaxed)};
}

void ForgetPlacementCounts() {
  for (Counts& counts : all_counts) {
    for (auto* count : {&counts.blocks, &counts.bytes, &counts.moved_blocks,
                        &counts.heap_blocks_tried, &counts.over_limit_blocks, &counts.freed_blocks,
                        &counts.uncut_mappings, &counts.overruled_calls, &counts.refused_calls}) {
      count->store(0, kRelaxed);
    }
    counts.refused_errno.store(0, kRelaxed);
  }
}

}  // namespace memagent::capture
