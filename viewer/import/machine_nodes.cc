#include "viewer/import/machine_nodes.h"

#include "agent/os/cpu_list.h"

namespace memagent::importer {
MachineNodes::MachineNodes(const PerfMachine& machine) : block_bytes_(machine.memory_block_bytes) {
  for (const PerfNode& node : machine.nodes) {
    const auto cpus = os::ParseCpuList(node.cpus);
    if (!cpus || node.id >= kMostNodes) continue;
    for (const uint32_t cpu : *cpus) {
      if (cpu >= cpu_nodes_.size()) cpu_nodes_.resize(cpu + 1, -1);
      cpu_nodes_[cpu] = static_cast<int32_t>(node.id);
    }
  }
  for (const PerfNodeMemory& memory : machine.memory) {
    if (memory.node < kMostNodes) memory_.push_back(memory);
  }
}

NodeId MachineNodes::OfCpu(uint32_t cpu) const {
  return cpu < cpu_nodes_.size() ? static_cast<NodeId>(cpu_nodes_[cpu]) : NodeId::kUnknown;
}

NodeId MachineNodes::OfPhysical(uint64_t address) const {
  if (address == 0 || block_bytes_ == 0) return NodeId::kUnknown;
  const uint64_t block = address / block_bytes_;
  for (const PerfNodeMemory& memory : memory_) {
    if (block / 64 >= memory.blocks.size()) continue;
    if ((memory.blocks[block / 64] >> (block % 64) & 1) != 0) {
      return static_cast<NodeId>(memory.node);
    }
  }
  return NodeId::kUnknown;
}

}  // namespace memagent::importer
