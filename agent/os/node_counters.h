// What the kernel counts on each NUMA node: pages given where they were wanted and elsewhere, memory
// that is free; and what NUMA balancing did. Of the whole machine, not of this process.
//
// Calling thread: the drain thread. Parsers are pure; what can't be read stays 0.
#ifndef MEMAGENT_AGENT_OS_NODE_COUNTERS_H_
#define MEMAGENT_AGENT_OS_NODE_COUNTERS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/base/types.h"

namespace memagent::os {

// Documentation/admin-guide/numastat.rst. Pages since the machine started.
struct NumaStat {
  uint64_t hit = 0;
  uint64_t miss = 0;
  uint64_t foreign = 0;
  uint64_t interleave_hit = 0;
};

// Of /proc/vmstat, since the machine started.
struct BalancingCounters {
  uint64_t pages_migrated = 0;
  uint64_t hint_faults = 0;
};

NumaStat ParseNumaStat(std::string_view text);
BalancingCounters ParseVmstat(std::string_view text);
// "Node 0 MemFree:   1234 kB", in bytes; nullopt without such a line.
std::optional<uint64_t> ParseNodeMemFree(std::string_view text);

NumaStat ReadNumaStat(NodeId node, std::string_view sys_root = "/sys");
std::optional<uint64_t> ReadNodeMemFree(NodeId node, std::string_view sys_root = "/sys");
BalancingCounters ReadBalancingCounters(std::string_view proc_root = "/proc");

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_NODE_COUNTERS_H_
