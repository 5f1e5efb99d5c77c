// What samples and page faults say of one site. Plain data, grown by the Aggregator.
#ifndef MEMAGENT_AGENT_AGGREGATE_SITE_STATS_H_
#define MEMAGENT_AGENT_AGGREGATE_SITE_STATS_H_

#include <array>
#include <compare>
#include <cstdint>

#include "agent/base/containers.h"
#include "agent/base/types.h"

namespace memagent::aggregate {

// Who accessed from where to where.
struct CellKey {
  uint32_t thread = 0;  // serial
  NodeId cpu_node = NodeId::kUnknown;
  NodeId memory_node = NodeId::kUnknown;
  auto operator<=>(const CellKey&) const = default;
};

struct CodeCount {
  uint64_t samples = 0;
  uint64_t remote_samples = 0;
};

struct TouchKey {
  uint32_t thread = 0;
  NodeId cpu_node = NodeId::kUnknown;
  uint64_t ip = 0;
  auto operator<=>(const TouchKey&) const = default;
};

struct TouchCount {
  double pages = 0;     // estimated: one fault stands for the period, and for its share of lost ones
  uint64_t faults = 0;  // seen
};

struct SiteStats {
  uint64_t samples = 0;
  std::array<uint64_t, kEvidenceCount> evidence = {};
  base::OrderedMap<CellKey, uint64_t> cells;
  base::HashMap<uint64_t, CodeCount> code;  // by instruction address
  base::OrderedMap<TouchKey, TouchCount> first_touch;
  base::HashMap<uint64_t, NodeId> pages;  // sampled pages and the node each was on when last seen
  uint64_t pages_not_present = 0;
  bool changed = false;  // since the last checkpoint
};

}  // namespace memagent::aggregate

#endif  // MEMAGENT_AGENT_AGGREGATE_SITE_STATS_H_
