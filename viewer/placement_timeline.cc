#include "viewer/placement_timeline.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "viewer/concat.h"
#include "viewer/demangle.h"
#include "viewer/function_name.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

using memagent::v1::PlacementCall;

constexpr int kMostNodes = 8;  // of a list

std::string NodesText(const PlacementCall& call) {
  std::string text;
  for (int i = 0; i < std::min(call.node_size(), kMostNodes); ++i) {
    Append(text, i == 0 ? " " : ",", call.node(i));
  }
  if (call.node_size() > kMostNodes) Append(text, " and ", call.node_size() - kMostNodes, " more");
  return text;
}

// Of which thread or process: only these calls have one.
std::string TargetText(const PlacementCall& call) {
  if (call.target_tid() > 0) return Concat(", of ", call.target_tid());
  return call.target_tid() < 0 ? ", of another thread" : "";
}

std::string MemoryText(const View& view, const PlacementCall& call, bool name_site) {
  if (call.size_bytes() == 0) return "";
  std::string text = Concat(", ", HumanBytes(call.size_bytes()));
  if (!name_site || call.site() == 0) return text;
  const auto found =
      std::find_if(view.sites.begin(), view.sites.end(),
                   [&call](const SiteView& site) { return site.profile_id == call.site(); });
  return found == view.sites.end() ? text : Concat(text, " of ", found->id);
}

std::string ResultText(const PlacementCall& call) {
  std::string text = call.calls() > 1 ? Concat("; ", Plural(call.calls(), "time")) : "";
  if (call.refused() == 0) return text;
  const std::string why = std::generic_category().message(call.refused_errno());
  const bool all = call.refused() >= call.calls();
  return Concat(text, text.empty() ? "; " : ", ",
                all ? "" : Concat(GroupedCount(call.refused()), " "), "refused",
                call.refused_errno() == 0 ? "" : Concat(" (", why, ")"));
}

std::string CallText(const View& view, const PlacementCall& call, bool name_site,
                     const Terminal& terminal) {
  const uint64_t start = view.profile.header.start_monotonic_nanos();
  const uint64_t after = call.time() - std::min(call.time(), start);
  const std::string caller = ShortName(Demangle(view.profile.FunctionOf(call.frame())));
  std::string text = Concat("after ", HumanDuration(after), ": ", terminal.Safe(call.call()));
  if (!caller.empty()) Append(text, " by ", terminal.Safe(caller));
  Append(text, " in ", ThreadText(view, call.thread(), terminal), TargetText(call),
         MemoryText(view, call, name_site));
  const std::string nodes = NodesText(call);
  if (!call.mode().empty()) {
    Append(text, ", ", terminal.Safe(call.mode()), nodes);
  } else if (!nodes.empty()) {
    Append(text, ", ", call.node_size() == 1 ? "node" : "nodes", nodes);
  }
  return text + ResultText(call);
}

}  // namespace

std::vector<std::string> TimelineOf(const View& view, const SiteView* site, size_t most,
                                    const Terminal& terminal) {
  std::vector<const PlacementCall*> calls;
  for (const PlacementCall& call : view.profile.placement_calls) {
    if (site == nullptr || call.site() == site->profile_id) calls.push_back(&call);
  }
  std::stable_sort(calls.begin(), calls.end(), [](const PlacementCall* a, const PlacementCall* b) {
    return a->time() < b->time();
  });
  std::vector<std::string> lines;
  const size_t shown = std::min(most, calls.size());
  for (size_t i = 0; i < shown; ++i) {
    lines.push_back(CallText(view, *calls[i], site == nullptr, terminal));
  }
  // Of those that the agent left out nobody knows which site they are about.
  const uint64_t lost = site == nullptr ? view.profile.placement_calls_left_out : 0;
  const uint64_t rest = calls.size() - shown + lost;
  if (rest > 0) lines.push_back(Concat("and ", GroupedCount(rest), " more"));
  return lines;
}

}  // namespace memagent::viewer
