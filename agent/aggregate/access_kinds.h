// A site's accesses by what the hardware said of them and by what the page's node says: the two
// witnesses of locality side by side, so that the report can tell where they disagree.
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_AGGREGATE_ACCESS_KINDS_H_
#define MEMAGENT_AGENT_AGGREGATE_ACCESS_KINDS_H_

#include <cstdint>

#include "agent/aggregate/latency.h"
#include "agent/base/containers.h"
#include "agent/base/data_source.h"
#include "agent/base/types.h"

namespace memagent::aggregate {

// Whether the page lies on the node of the CPU that accessed it.
enum class PageWitness : uint8_t { kUnknown = 0, kSameNode = 1, kOtherNode = 2 };

constexpr PageWitness WitnessOf(NodeId cpu_node, NodeId memory_node) {
  if (cpu_node == NodeId::kUnknown || memory_node == NodeId::kUnknown) return PageWitness::kUnknown;
  return cpu_node == memory_node ? PageWitness::kSameNode : PageWitness::kOtherNode;
}

struct AccessKind {
  DataSource source;
  PageWitness page = PageWitness::kUnknown;
  uint64_t samples = 0;
  LatencySum latency;
};

class AccessKinds {
 public:
  // More than any hardware tells apart; what comes after is counted as wholly unknown.
  static constexpr size_t kMaxKinds = 1024;

  void Add(const DataSource& source, PageWitness page, uint64_t latency_cycles, uint64_t weight) {
    AccessKind& kind = Find(source, page);
    kind.samples += weight;
    kind.latency.Add(latency_cycles, weight);
  }

  const base::OrderedMap<uint64_t, AccessKind>& all() const { return kinds_; }

 private:
  static uint64_t KeyOf(const DataSource& source, PageWitness page) {
    const uint64_t fields[] = {static_cast<uint64_t>(source.op),     //
                               static_cast<uint64_t>(source.level),  //
                               static_cast<uint64_t>(source.locality),
                               static_cast<uint64_t>(source.snoop),
                               static_cast<uint64_t>(source.tlb),
                               source.locked,
                               source.blocked_data,
                               source.blocked_address,
                               source.region,
                               static_cast<uint64_t>(page)};
    uint64_t key = 0;
    for (const uint64_t field : fields) key = key << 6 | field;
    return key;
  }

  AccessKind& Find(const DataSource& source, PageWitness page) {
    const uint64_t key = KeyOf(source, page);
    const auto known = kinds_.find(key);
    if (known != kinds_.end()) return known->second;
    if (kinds_.size() >= kMaxKinds) return kinds_[0];
    AccessKind& fresh = kinds_[key];
    fresh.source = source;
    fresh.page = page;
    return fresh;
  }

  base::OrderedMap<uint64_t, AccessKind> kinds_;
};

}  // namespace memagent::aggregate

#endif  // MEMAGENT_AGENT_AGGREGATE_ACCESS_KINDS_H_
