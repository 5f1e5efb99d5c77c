#include "viewer/advice_placement.h"

#include <algorithm>
#include <vector>

#include "viewer/concat.h"
#include "viewer/nodes.h"

namespace memagent::viewer {
namespace {

// Smaller heap blocks are not placed by rules: their pages are shared with others
// (ledger::kLargeBlock).
constexpr uint64_t kSmallestPlaced = uint64_t{16} << 10;

bool CanBePlaced(const SiteView& site, AdviceKind kind) {
  if (site.stack.empty()) return false;
  // A mapping of the program's own is never cut in parts (capture::PlaceMapping, D34).
  if (site.kind == "mmap") return kind != AdviceKind::kBlock;
  const uint64_t blocks = std::max<uint64_t>(1, site.allocations);
  return site.kind == "heap" && site.bytes_allocated / blocks >= kSmallestPlaced;
}

std::string Listed(std::string_view word, const std::vector<int32_t>& nodes) {
  std::string text(word);
  for (size_t i = 0; i < nodes.size(); ++i) Append(text, i == 0 ? ":" : "+", nodes[i]);
  return text;
}

// Without a list `run` takes all nodes that have memory, in their order.
std::string WithNodes(const View& view, std::string_view word, const std::vector<int32_t>& nodes) {
  std::vector<int32_t> all;
  for (const auto& [node, known] : view.nodes.by_number) {
    if (HasMemory(view, node)) all.push_back(node);
  }
  return nodes == all ? std::string(word) : Listed(word, nodes);
}

}  // namespace

std::string PlacementOf(const View& view, const SiteView& site, const Advice& advice) {
  if (!CanBePlaced(site, advice.kind)) return "";
  switch (advice.kind) {
    case AdviceKind::kBind:
      return Listed("bind", advice.nodes);
    case AdviceKind::kInterleave:
      return WithNodes(view, "interleave", advice.nodes);
    case AdviceKind::kBlock:
      return WithNodes(view, "block", advice.nodes);
    case AdviceKind::kSmallPages:
      return "nohuge";
    default:
      return "";
  }
}

}  // namespace memagent::viewer
