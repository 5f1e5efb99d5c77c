#include "viewer/spread.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "viewer/shared_use.h"

namespace memagent::viewer {
namespace {

// Pages by the thread that touched them first, and its node.
using Touches = std::map<uint32_t, NodeSamples>;

Touches TouchesOf(const SiteView& site) {
  Touches touches;
  for (const FirstTouch& touch : site.first_touch) {
    touches[touch.thread][touch.cpu_node] += touch.pages;
  }
  return touches;
}

// As many pages as one thread touched, over nodes as another one's are.
void AddPages(const NodeSamples& thread, const NodeSamples& as, std::map<int32_t, double>& pages) {
  const auto count = static_cast<double>(SumOf(thread));
  const uint64_t all = SumOf(as);
  for (const auto& [node, samples] : as) pages[node] += count * Share(samples, all);
}

double BusiestShare(const std::map<int32_t, double>& pages) {
  double most = 0;
  double all = 0;
  for (const auto& [node, count] : pages) {
    most = std::max(most, count);
    all += count;
  }
  return all > 0 ? most / all : 0;
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
  for (const int32_t node : users) result.part += Share(result.by_node.at(node), located);
  return result;
}

double ExplainedByUse(const SharedUse& before, const SharedUse& after) {
  const auto busiest = [](const NodeSamples& users) {
    return Share(MostOf(users).second, SumOf(users));
  };
  return std::fabs(busiest(after.by_node) - busiest(before.by_node));
}

double ExplainedByTouch(const ThreadPairs& threads, const SiteView& before, const SiteView& after) {
  const Touches a = TouchesOf(after);
  std::map<uint32_t, const NodeSamples*> moved;
  for (const ThreadPairs::Pair& pair : threads.pairs()) {
    const auto found = a.find(pair.after);
    if (found != a.end()) moved[pair.before] = &found->second;
  }
  std::map<int32_t, double> was;
  std::map<int32_t, double> would_be;
  for (const auto& [thread, pages] : TouchesOf(before)) {
    const auto found = moved.find(thread);
    AddPages(pages, pages, was);
    AddPages(pages, found == moved.end() ? pages : *found->second, would_be);
  }
  return std::fabs(BusiestShare(would_be) - BusiestShare(was));
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
