#include "viewer/shared_use.h"

#include <algorithm>

#include "viewer/nodes.h"

namespace memagent::viewer {

std::vector<int32_t> UsersOf(const View& view, const NodeSamples& by_node) {
  const uint64_t all = SumOf(by_node);
  std::vector<int32_t> users;
  for (const auto& [node, samples] : by_node) {
    const bool uses = Share(samples, all) >= kUserShare;
    if (uses && HasCpus(view, node) && HasMemory(view, node)) users.push_back(node);
  }
  return users;
}

double EvenShare(size_t users) { return 1 / static_cast<double>(std::max<size_t>(1, users)); }

double ConcentratedShare(size_t users) {
  constexpr double kConcentrated = 1.5;
  constexpr double kNearlyAll = 0.99;
  return std::min(kNearlyAll, kConcentrated * EvenShare(users));
}

}  // namespace memagent::viewer
