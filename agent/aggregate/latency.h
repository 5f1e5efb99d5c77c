// Sampled latencies of accesses, in core cycles: sums for means, a histogram for percentiles.
//
// Sampled latency is what the sampled accesses took. It is not time that the program was stalled:
// accesses overlap. A latency of 0 means that the hardware told none (facts: perf_abi 1.5).
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_AGGREGATE_LATENCY_H_
#define MEMAGENT_AGENT_AGGREGATE_LATENCY_H_

#include <bit>
#include <cstdint>

#include "agent/base/containers.h"

namespace memagent::aggregate {

struct LatencySum {
  uint64_t samples = 0;  // those that had a latency
  uint64_t cycles = 0;   // their sum

  void Add(uint64_t latency_cycles, uint64_t weight) {
    if (latency_cycles == 0) return;
    samples += weight;
    cycles += latency_cycles * weight;
  }
};

// The three highest bits of a latency, the rest zero: buckets a quarter wide at most.
constexpr uint32_t LatencyFloor(uint32_t latency_cycles) {
  const int spare = std::bit_width(latency_cycles) - 3;
  return spare <= 0 ? latency_cycles : latency_cycles >> spare << spare;
}

// Samples by LatencyFloor: at most 8 + 4 * 29 entries.
using LatencyHistogram = base::OrderedMap<uint32_t, uint64_t>;

}  // namespace memagent::aggregate

#endif  // MEMAGENT_AGENT_AGGREGATE_LATENCY_H_
