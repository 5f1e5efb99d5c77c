#include "viewer/spread.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "viewer/shared_use.h"

namespace memagent::viewer {
namespace {

uint64_t Of(int32_t node, const NodeSamples& samples) {
  const auto found = samples.find(node);
  return found == samples.end() ? 0 : found->second;
}

// Pages by the thread that touched them first, and its node.
struct Touches {
  std::map<uint32_t, NodeSamples> by_thread;
  uint64_t pages = 0;

  double PartOf(const NodeSamples& thread) const { return Share(SumOf(thread), pages); }
};

Touches TouchesOf(const SiteView& site) {
  Touches result;
  for (const FirstTouch& touch : site.first_touch) {
    result.by_thread[touch.thread][touch.cpu_node] += touch.pages;
    result.pages += touch.pages;
  }
  return result;
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
  const uint64_t located = SumOf(result.by_node);
  result.users = users.size();
  for (const int32_t node : users) result.part += Share(Of(node, result.by_node), located);
  return result;
}

double Distance(const NodeSamples& before, const NodeSamples& after) {
  const uint64_t all_before = SumOf(before);
  const uint64_t all_after = SumOf(after);
  NodeSamples nodes = before;
  nodes.insert(after.begin(), after.end());
  double distance = 0;
  for (const auto& [node, samples] : nodes) {
    const double change = Share(Of(node, after), all_after) - Share(Of(node, before), all_before);
    distance += std::fabs(change) / 2;
  }
  return distance;
}

double MovedTouches(const ThreadPairs& threads, const SiteView& before, const SiteView& after) {
  const Touches b = TouchesOf(before);
  const Touches a = TouchesOf(after);
  double moved = 0;
  for (const ThreadPairs::Pair& pair : threads.pairs()) {
    const auto in_b = b.by_thread.find(pair.before);
    const auto in_a = a.by_thread.find(pair.after);
    if (in_b == b.by_thread.end() || in_a == a.by_thread.end()) continue;
    const double part = std::min(b.PartOf(in_b->second), a.PartOf(in_a->second));
    moved += part * Distance(in_b->second, in_a->second);
  }
  return moved;
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
