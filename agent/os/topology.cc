#include "agent/os/topology.h"

#include <optional>

#include "agent/os/cpu_list.h"
#include "agent/os/file.h"

namespace memagent::os {
namespace {

// A list of 8192 single numbers has 40 KiB.
constexpr size_t kMaxFileBytes = size_t{64} << 10;
constexpr std::string_view kNodeFolder = "/devices/system/node/";

base::String ReadLine(const base::String& path) {
  const auto text = ReadWholeFile(path.c_str(), kMaxFileBytes);
  return text ? base::String(Trim(*text)) : base::String();
}

base::String NodeFile(std::string_view root, uint32_t node, std::string_view name) {
  return JoinPath(JoinPath(root, kNodeFolder), "node", node, name);
}

// "Node 0 MemTotal:       16384 kB": the number, in bytes.
uint64_t ParseMemTotal(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = TakeUntil(text, '\n');
    const size_t at = line.find("MemTotal:");
    if (at == std::string_view::npos) continue;
    line = Trim(line.substr(at + sizeof("MemTotal:") - 1));
    const auto kib = ParseUnsigned(TakeUntil(line, ' '));
    return kib.value_or(0) << 10;
  }
  return 0;
}

Node ReadNode(std::string_view root, uint32_t number) {
  Node node;
  node.id = static_cast<NodeId>(number);
  node.cpu_list = ReadLine(NodeFile(root, number, "/cpulist"));
  if (auto cpus = ParseCpuList(node.cpu_list)) node.cpus = std::move(*cpus);
  node.memory_total_bytes = ParseMemTotal(ReadLine(NodeFile(root, number, "/meminfo")));
  return node;
}

// Appends one row; false unless it has one good number for each node.
bool AppendDistances(std::string_view row, size_t node_count, base::Vector<uint32_t>& distances) {
  size_t found = 0;
  for (row = Trim(row); !row.empty(); row = Trim(row), ++found) {
    const auto distance = ParseUnsigned(TakeUntil(row, ' '));
    if (!distance || *distance > UINT32_MAX || found == node_count) return false;
    distances.push_back(static_cast<uint32_t>(*distance));
  }
  return found == node_count;
}

void ReadDistances(std::string_view root, Topology& topology) {
  for (const Node& node : topology.nodes) {
    const auto row = ReadLine(NodeFile(root, static_cast<uint32_t>(node.id), "/distance"));
    if (!AppendDistances(row, topology.nodes.size(), topology.distances)) {
      topology.distances.clear();
      return;
    }
  }
}

void IndexCpus(Topology& topology) {
  for (const Node& node : topology.nodes) {
    for (const uint32_t cpu : node.cpus) {
      if (cpu >= topology.node_of_cpu.size()) {
        topology.node_of_cpu.resize(cpu + 1, NodeId::kUnknown);
      }
      topology.node_of_cpu[cpu] = node.id;
    }
  }
}

Topology OneNode(std::string_view root) {
  Topology topology;
  topology.assumed_one_node = true;
  Node node;
  node.id = NodeId{0};
  node.cpu_list = ReadLine(JoinPath(root, "/devices/system/cpu/online"));
  if (auto cpus = ParseCpuList(node.cpu_list)) node.cpus = std::move(*cpus);
  topology.nodes.push_back(std::move(node));
  IndexCpus(topology);
  return topology;
}

size_t IndexOf(const Topology& topology, NodeId id) {
  size_t index = 0;
  while (index < topology.nodes.size() && topology.nodes[index].id != id) ++index;
  return index;
}

}  // namespace

NodeId Topology::NodeOfCpu(uint32_t cpu) const {
  if (assumed_one_node) return NodeId{0};
  return cpu < node_of_cpu.size() ? node_of_cpu[cpu] : NodeId::kUnknown;
}

uint32_t Topology::Distance(NodeId from, NodeId to) const {
  const size_t row = IndexOf(*this, from);
  const size_t column = IndexOf(*this, to);
  if (distances.empty() || row == nodes.size() || column == nodes.size()) return 0;
  return distances[row * nodes.size() + column];
}

Topology ReadTopology(std::string_view sys_root) {
  const auto online = ParseCpuList(ReadLine(JoinPath(sys_root, "/devices/system/node/online")));
  if (!online || online->empty()) return OneNode(sys_root);
  Topology topology;
  for (const uint32_t number : *online) topology.nodes.push_back(ReadNode(sys_root, number));
  ReadDistances(sys_root, topology);
  IndexCpus(topology);
  return topology;
}

}  // namespace memagent::os
