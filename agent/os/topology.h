// Which NUMA nodes there are, how far apart, and which CPU belongs to which, from sysfs.
//
// Read once at session start in the drain thread; afterwards constant.
#ifndef MEMAGENT_AGENT_OS_TOPOLOGY_H_
#define MEMAGENT_AGENT_OS_TOPOLOGY_H_

#include <cstdint>
#include <string_view>

#include "agent/base/containers.h"
#include "agent/base/types.h"

namespace memagent::os {

struct Node {
  NodeId id = NodeId::kUnknown;
  base::String cpu_list;  // as the kernel writes it; "" for a node without CPUs
  base::Vector<uint32_t> cpus;
  uint64_t memory_total_bytes = 0;  // 0: none, or the kernel does not say
};

struct Topology {
  base::Vector<Node> nodes;  // ascending by id; ids may have gaps
  // nodes x nodes, row-major in the order of `nodes`: the firmware's SLIT numbers (10 = the node
  // itself). Empty when the kernel does not say.
  base::Vector<uint32_t> distances;
  base::Vector<NodeId> node_of_cpu;  // index: CPU number
  // sysfs has no NUMA nodes (kernel without CONFIG_NUMA, or /sys masked in a container): one node 0
  // with every CPU is assumed.
  bool assumed_one_node = false;

  // kUnknown for a CPU that no node lists.
  NodeId NodeOfCpu(uint32_t cpu) const;
  // The distance between two nodes, 0 when not known.
  uint32_t Distance(NodeId from, NodeId to) const;
};

// `sys_root` is where sysfs is mounted ("/sys"), or a copy of it.
Topology ReadTopology(std::string_view sys_root = "/sys");

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_TOPOLOGY_H_
