#include "viewer/spread.h"

#include <cmath>
#include <vector>

#include "viewer/shared_use.h"

namespace memagent::viewer {
namespace {

double ShareOf(int32_t node, const SharedUse& use) {
  const auto found = use.by_node.find(node);
  return found == use.by_node.end() ? 0 : Share(found->second, use.located);
}

// What it takes to say that concentrated pages are spread now.
bool IsSpread(const Change& busiest_node, const SharedUse& before, const SharedUse& after) {
  return JudgeShare(busiest_node) == Verdict::kBetter &&
         busiest_node.before_interval.low > ConcentratedShare(before.users) &&
         busiest_node.after_interval.high < kSpread * EvenShare(after.users);
}

}  // namespace

double SharedUse::RemoteWhenSpread() const { return 1 - part * EvenShare(users); }

SharedUse SharedUseOf(const DiffSide& side, const SiteRuns& site) {
  SharedUse result;
  for (const SiteView* run : site.runs) {
    if (run == nullptr) continue;
    const SiteUse use = UseOf(*run);
    for (const auto& [node, samples] : use.by_node) result.by_node[node] += samples;
  }
  const std::vector<int32_t> users = UsersOf(side.first(), result.by_node);
  result.located = SumOf(result.by_node);
  result.users = users.size();
  for (const int32_t node : users) result.part += ShareOf(node, result);
  return result;
}

double DistanceOfUse(const SharedUse& before, const SharedUse& after) {
  NodeSamples all = before.by_node;
  all.insert(after.by_node.begin(), after.by_node.end());
  double distance = 0;
  for (const auto& [node, samples] : all) {
    distance += std::fabs(ShareOf(node, before) - ShareOf(node, after)) / 2;
  }
  return distance;
}

std::optional<Verdict> JudgeSpread(const PlacementChange& change, const SharedUse& before,
                                   const SharedUse& after) {
  if (before.users < 2 || after.users < 2) return std::nullopt;
  // What its users have in their own nodes needs no spreading, however few nodes that are.
  if (change.remote.before_interval.low <= kFaultShare) return std::nullopt;
  if (!IsSpread(change.busiest_node, before, after)) return std::nullopt;
  const bool costs_more = change.remote_verdict == Verdict::kWorse &&
                          change.remote.after_interval.low > after.RemoteWhenSpread() + kSameShare;
  return costs_more ? std::nullopt : std::optional<Verdict>(Verdict::kFixed);
}

Verdict WithSpread(const Change& remote, Verdict remote_verdict, std::optional<Verdict> spread) {
  if (spread != Verdict::kFixed) return remote_verdict;
  switch (remote_verdict) {
    case Verdict::kSame:
    case Verdict::kNoClearChange:
      return Verdict::kFixed;
    case Verdict::kWorse:
      return remote.interval.low <= kSmallPrice ? Verdict::kFixed : Verdict::kMixed;
    default:
      return remote_verdict;
  }
}

}  // namespace memagent::viewer
