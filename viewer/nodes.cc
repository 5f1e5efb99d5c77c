#include "viewer/nodes.h"

namespace memagent::viewer {
namespace {

const MachineNode* Find(const View& view, int32_t node) {
  const auto found = view.nodes.by_number.find(node);
  return found == view.nodes.by_number.end() ? nullptr : &found->second;
}

}  // namespace

MachineNodes NodesOf(const memagent::v1::Machine& machine) {
  MachineNodes nodes;
  for (int i = 0; i < machine.nodes_size(); ++i) {
    const memagent::v1::Node& source = machine.nodes(i);
    MachineNode& node = nodes.by_number[static_cast<int32_t>(source.id())];
    node.row = i;
    node.has_cpus = !source.cpu_list().empty();
    node.memory_bytes = source.memory_total_bytes();
    nodes.tell_cpus = nodes.tell_cpus || node.has_cpus;
    nodes.tell_memory = nodes.tell_memory || node.memory_bytes > 0;
  }
  for (const int32_t node : machine.cpu_nodes()) {
    nodes.tell_cpus = true;
    if (node >= 0) nodes.by_number[node].has_cpus = true;
  }
  return nodes;
}

bool HasCpus(const View& view, int32_t node) {
  if (node < 0) return false;
  if (!view.nodes.tell_cpus) return true;
  const MachineNode* known = Find(view, node);
  return known != nullptr && known->has_cpus;
}

bool HasMemory(const View& view, int32_t node) {
  return node >= 0 && (!view.nodes.tell_memory || MemoryBytes(view, node) > 0);
}

uint64_t MemoryBytes(const View& view, int32_t node) {
  const MachineNode* known = Find(view, node);
  return known == nullptr ? 0 : known->memory_bytes;
}

// Rows of the table have no gaps.
std::optional<uint32_t> NodeDistance(const View& view, int32_t from, int32_t to) {
  const memagent::v1::Machine& machine = view.profile.header.machine();
  const MachineNode* row = Find(view, from);
  const MachineNode* column = Find(view, to);
  if (row == nullptr || column == nullptr || row->row < 0 || column->row < 0) return std::nullopt;
  const int64_t place = int64_t{row->row} * machine.nodes_size() + column->row;
  if (place >= machine.distances_size()) return std::nullopt;
  return machine.distances(static_cast<int>(place));
}

}  // namespace memagent::viewer
