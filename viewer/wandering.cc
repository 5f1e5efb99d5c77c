#include "viewer/wandering.h"

#include <algorithm>
#include <map>

#include "viewer/shared_use.h"
#include "viewer/site_use.h"

namespace memagent::viewer {
namespace {

// Of the pairs of accesses in one block: so many surely come from one thread, so each has its own.
constexpr double kAlone = 0.9;

bool IsOfOneThread(const SiteView& site) {
  if (site.kind == "stack" || site.kind == "tls") return true;
  for (const auto& sharing : site.sharing) {
    if (sharing.unit_bytes() != kBlockUnit || sharing.pairs() < kWeakSamples) continue;
    return WilsonInterval(sharing.same_thread(), sharing.pairs(), site.design_effect).low > kAlone;
  }
  return false;
}

}  // namespace

Wandering WanderingOf(const SiteView& site) {
  Wandering result;
  if (!IsOfOneThread(site)) return result;
  std::map<uint32_t, NodeSamples> threads;
  for (const Use& use : site.uses) {
    if (use.IsLocated()) threads[use.thread][use.cpu_node] += use.samples;
  }
  uint64_t most = 0;
  for (const auto& [thread, nodes] : threads) {
    const uint64_t all = SumOf(nodes);
    const uint64_t away = all - MostOf(nodes).second;
    result.samples += away;
    if (away <= most) continue;
    most = away;
    result.thread = thread;
    result.nodes =
        static_cast<uint32_t>(std::count_if(nodes.begin(), nodes.end(), [all](const auto& node) {
          return Share(node.second, all) >= kUserShare;
        }));
  }
  return result;
}

}  // namespace memagent::viewer
