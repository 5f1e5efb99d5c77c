#include "viewer/placement_calls.h"

#include <algorithm>

namespace memagent::viewer {
namespace {

using memagent::v1::PlacementCall;
using memagent::v1::PolicyCount;

// Others leave it to the thread that touches a page.
bool NamesNodes(const PolicyCount& policy) {
  return policy.node_size() > 0 && policy.mode() != "default" && policy.mode() != "local";
}

bool Names(const PolicyCount& policy, int32_t home) {
  return NamesNodes(policy) &&
         std::any_of(policy.node().begin(), policy.node().end(),
                     [home](uint32_t node) { return static_cast<int64_t>(node) == home; });
}

}  // namespace

PolicyShare PolicyShareOf(const SiteView& site, int32_t home) {
  double all = 0;
  PolicyShare share;
  for (const PolicyCount& policy : site.policies) {
    const auto pages = static_cast<double>(policy.pages());
    all += pages;
    if (!NamesNodes(policy)) continue;
    share.forced += pages;
    if (Names(policy, home)) share.forced_here += pages / policy.node_size();
  }
  if (all <= 0) return {};
  return {std::min(1.0, share.forced / all), std::min(1.0, share.forced_here / all)};
}

const PolicyCount* PolicyFor(const SiteView& site, int32_t home) {
  const PolicyCount* most = nullptr;
  for (const PolicyCount& policy : site.policies) {
    if (!Names(policy, home)) continue;
    if (most == nullptr || policy.pages() > most->pages()) most = &policy;
  }
  return most;
}

std::vector<const PlacementCall*> CallsFor(const View& view, const SiteView& site,
                                           const std::vector<std::string_view>& names) {
  std::vector<const PlacementCall*> calls;
  for (const PlacementCall& call : view.profile.placement_calls) {
    if (call.refused() >= call.calls()) continue;
    if (call.site() != 0 && call.site() != site.profile_id) continue;
    if (std::find(names.begin(), names.end(), std::string_view(call.call())) == names.end()) {
      continue;
    }
    calls.push_back(&call);
  }
  return calls;
}

std::vector<const PlacementCall*> MovingCalls(const View& view, const SiteView& site) {
  return CallsFor(view, site, {"move_pages", "migrate_pages"});
}

std::vector<const PlacementCall*> AffinityCalls(const View& view, uint32_t thread) {
  const ThreadView* known = view.FindThread(thread);
  const int32_t tid = known == nullptr ? 0 : known->tid;
  std::vector<const PlacementCall*> calls;
  for (const PlacementCall& call : view.profile.placement_calls) {
    if (call.call() != "sched_setaffinity" && call.call() != "pthread_setaffinity_np") continue;
    if (call.refused() >= call.calls()) continue;
    const bool own = call.target_tid() == 0 && call.thread() == thread;
    if (own || (tid != 0 && call.target_tid() == tid)) calls.push_back(&call);
  }
  return calls;
}

// The counters are the whole machine's: fewer pages than these can't be the reason.
bool WasGivenElsewhere(const View& view, int32_t home, double pages) {
  constexpr double kEnough = 0.5;
  double wanted_elsewhere = 0;
  double given_here = 0;
  for (const auto& node : view.profile.node_counters) {
    if (static_cast<int64_t>(node.node()) == home) {
      given_here += static_cast<double>(node.miss());
    } else {
      wanted_elsewhere += static_cast<double>(node.foreign());
    }
  }
  const double given = std::min(given_here, wanted_elsewhere);
  return given > 0 && given >= kEnough * pages;
}

}  // namespace memagent::viewer
