// What samples and page faults say of one site. Plain data, grown by the Aggregator.
#ifndef MEMAGENT_AGENT_AGGREGATE_SITE_STATS_H_
#define MEMAGENT_AGENT_AGGREGATE_SITE_STATS_H_

#include <array>
#include <compare>
#include <cstdint>

#include "agent/aggregate/access_kinds.h"
#include "agent/aggregate/latency.h"
#include "agent/aggregate/sharing.h"
#include "agent/base/containers.h"
#include "agent/base/types.h"
#include "agent/os/memory_policy.h"

namespace memagent::aggregate {

// Who accessed from where to where.
struct CellKey {
  uint32_t thread = 0;  // serial
  NodeId cpu_node = NodeId::kUnknown;
  NodeId memory_node = NodeId::kUnknown;
  auto operator<=>(const CellKey&) const = default;
};

// Accessing code is known by its address; once its library is gone, by the frame that it was given:
// kNamedCode | frame id.
inline constexpr uint64_t kNamedCode = uint64_t{1} << 63;

struct CellCount {
  uint64_t samples = 0;
  LatencySum latency;
  uint64_t stores = 0;
  uint64_t positions = 0;  // which 64ths of its blocks, bit 0 the first (positions.h)
};

// Who accessed a 64th of the blocks from where to where.
struct StripKey {
  uint32_t position = 0;
  NodeId cpu_node = NodeId::kUnknown;
  NodeId memory_node = NodeId::kUnknown;
  auto operator<=>(const StripKey&) const = default;
};

struct CodeCount {
  uint64_t samples = 0;
  uint64_t remote_samples = 0;
  LatencySum latency;
};

struct TouchKey {
  uint32_t thread = 0;
  NodeId cpu_node = NodeId::kUnknown;
  uint64_t ip = 0;  // or kNamedCode | frame id
  auto operator<=>(const TouchKey&) const = default;
};

struct TouchCount {
  // Estimated: one fault stands for the period, and for its share of lost ones; a huge page counts as
  // the small ones that it is made of.
  double pages = 0;
  uint64_t faults = 0;  // seen
  uint64_t positions = 0;
};

// The memory policy that a page was under.
struct PolicyKey {
  os::MemoryPolicy policy;
  bool of_thread = false;  // not of its mapping
  auto operator<=>(const PolicyKey&) const = default;
};

struct SiteStats {
  uint64_t samples = 0;
  std::array<uint64_t, kEvidenceCount> evidence = {};
  base::OrderedMap<CellKey, CellCount> cells;
  base::HashMap<uint64_t, CodeCount> code;  // by instruction address, or as kNamedCode says
  base::OrderedMap<TouchKey, TouchCount> first_touch;
  base::HashMap<uint64_t, NodeId> pages;  // sampled pages and the node each was on when last seen
  uint64_t pages_not_present = 0;
  uint64_t pages_moved = 0;  // times that one was on another node than when last seen
  base::OrderedMap<StripKey, uint64_t> strips;
  uint64_t strip_samples_left_out = 0;  // beyond Aggregator::kMaxStrips
  Sharing sharing;
  // Of pages that were asked about (Aggregator::TakeFreshPages).
  base::OrderedMap<PolicyKey, uint64_t> policies;
  uint64_t huge_pages = 0;
  uint64_t huge_pages_asked = 0;
  // Of page faults of which the kernel told the size; estimated as TouchCount::pages.
  double touched_pages_told = 0;
  double touched_pages_huge = 0;
  uint64_t touched_policies = 0;  // of these: pages just touched first
  uint32_t fresh_touches = 0;     // pages offered to be asked about
  uint32_t fresh_accesses = 0;
  AccessKinds kinds;  // of samples of which hardware told the source
  LatencyHistogram latency;
  bool changed = false;  // since the last checkpoint

  // Addresses in [start, end) of accessing and of first touching code.
  base::Vector<uint64_t> CodeIn(uint64_t start, uint64_t end) const;
  // Counts what is known as `from` as `to`.
  void RenameCode(uint64_t from, uint64_t to);
};

}  // namespace memagent::aggregate

#endif  // MEMAGENT_AGENT_AGGREGATE_SITE_STATS_H_
