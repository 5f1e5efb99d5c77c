#include "viewer/nodes.h"

#include <algorithm>

namespace memagent::viewer {

bool HasCpus(const View& view, int32_t node) {
  const memagent::v1::Machine& machine = view.profile.header.machine();
  if (node < 0) return false;
  const bool told =
      std::any_of(machine.nodes().begin(), machine.nodes().end(),
                  [](const memagent::v1::Node& known) { return !known.cpu_list().empty(); });
  if (!told && machine.cpu_nodes().empty()) return true;
  if (std::find(machine.cpu_nodes().begin(), machine.cpu_nodes().end(), node) !=
      machine.cpu_nodes().end()) {
    return true;
  }
  return std::any_of(machine.nodes().begin(), machine.nodes().end(),
                     [node](const memagent::v1::Node& known) {
                       return static_cast<int64_t>(known.id()) == node && !known.cpu_list().empty();
                     });
}

// Rows of the table have no gaps.
std::optional<uint32_t> NodeDistance(const View& view, int32_t from, int32_t to) {
  const memagent::v1::Machine& machine = view.profile.header.machine();
  const int64_t nodes = machine.nodes_size();
  int64_t row = -1;
  int64_t column = -1;
  for (int i = 0; i < machine.nodes_size(); ++i) {
    const auto id = static_cast<int64_t>(machine.nodes(i).id());
    if (id == from) row = i;
    if (id == to) column = i;
  }
  if (row < 0 || column < 0 || row * nodes + column >= machine.distances_size()) {
    return std::nullopt;
  }
  return machine.distances(static_cast<int>(row * nodes + column));
}

}  // namespace memagent::viewer
