// A site's accesses by what the hardware said of them and by what the page's node says: the two
// witnesses of locality side by side, so that the report can tell where they disagree.
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_AGGREGATE_ACCESS_KINDS_H_
#define MEMAGENT_AGENT_AGGREGATE_ACCESS_KINDS_H_

#include <bit>
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

// What hardware told of one access; cycles are 0 where it did not.
struct HardwareTold {
  DataSource source;
  uint64_t page_bytes = 0;  // of the page's translation; 0: not told
  uint32_t latency_cycles = 0;
  uint16_t instruction_cycles = 0;
  uint16_t tlb_refill_cycles = 0;
};

struct AccessKind {
  DataSource source;
  PageWitness page = PageWitness::kUnknown;
  uint64_t page_bytes = 0;
  uint64_t samples = 0;
  LatencySum latency;
  LatencySum instruction;
  LatencySum tlb_refill;
};

class AccessKinds {
 public:
  // More than any hardware tells apart; what comes after is counted as wholly unknown.
  static constexpr size_t kMaxKinds = 1024;

  void Add(const HardwareTold& told, PageWitness page, uint64_t weight) {
    AccessKind& kind = Find(told, page);
    kind.samples += weight;
    kind.latency.Add(told.latency_cycles, weight);
    kind.instruction.Add(told.instruction_cycles, weight);
    kind.tlb_refill.Add(told.tlb_refill_cycles, weight);
  }

  const base::OrderedMap<uint64_t, AccessKind>& all() const { return kinds_; }

 private:
  // Different for kinds of which anything differs: each field has its own bits.
  static uint64_t KeyOf(const HardwareTold& told, PageWitness page) {
    const DataSource& source = told.source;
    uint64_t key = 0;
    const auto append = [&key](auto value, int bits) {
      key = key << bits | (static_cast<uint64_t>(value) & ((1u << bits) - 1));
    };
    append(source.op, 3);
    append(source.level, 5);
    append(source.locality, 3);
    append(source.snoop, 3);
    append(source.tlb, 3);
    append(source.locked, 1);
    append(source.blocked_data, 1);
    append(source.blocked_address, 1);
    append(source.region, 5);  // perf's field has five
    append(std::bit_width(told.page_bytes), 7);
    append(page, 2);
    return key;
  }

  AccessKind& Find(const HardwareTold& told, PageWitness page) {
    const uint64_t key = KeyOf(told, page);
    const auto known = kinds_.find(key);
    if (known != kinds_.end()) return known->second;
    if (kinds_.size() >= kMaxKinds) return kinds_[0];
    AccessKind& fresh = kinds_[key];
    fresh.source = told.source;
    fresh.page_bytes = told.page_bytes;
    fresh.page = page;
    return fresh;
  }

  base::OrderedMap<uint64_t, AccessKind> kinds_;
};

}  // namespace memagent::aggregate

#endif  // MEMAGENT_AGENT_AGGREGATE_ACCESS_KINDS_H_
