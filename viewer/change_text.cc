#include "viewer/change_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "viewer/concat.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

constexpr double kMostNanos = 9e18;  // a damaged file may say anything; 2^63 is 9.2e18
constexpr size_t kMostNodes = 4;

std::string Signed(double value, const Terminal& terminal) {
  return Concat(value < 0 ? terminal.glyphs().minus : "+", Fixed(std::fabs(value), 1));
}

std::string Becomes(const std::string& before, const std::string& after, const Terminal& terminal) {
  return Concat(before, " ", terminal.glyphs().becomes, " ", after);
}

uint64_t Whole(double value) {
  return static_cast<uint64_t>(std::clamp(value, 0.0, kMostNanos) + 0.5);
}

// Pages of a site in all runs of a side, by node.
std::map<int32_t, double> PagesOf(const SiteRuns& site) {
  std::map<int32_t, double> pages;
  for (const SiteView* run : site.runs) {
    if (run == nullptr) continue;
    for (const NodePages& node : run->pages) {
      pages[node.node] += static_cast<double>(node.pages);
    }
  }
  return pages;
}

std::string PagesOn(const std::map<int32_t, double>& pages, const std::vector<int32_t>& nodes) {
  double all = 0;
  for (const auto& [node, count] : pages) all += count;
  if (all == 0) return "-";
  std::string text;
  if (nodes.size() > kMostNodes) {
    const auto most =
        std::max_element(pages.begin(), pages.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return Concat(NodeText(most->first), " ", Percent(most->second / all));
  }
  for (const int32_t node : nodes) {
    const auto found = pages.find(node);
    const double count = found == pages.end() ? 0 : found->second;
    Append(text, text.empty() ? "" : "/", Fixed(100 * count / all, 0));
  }
  return text;
}

// Who touched a site's pages first.
struct Touch {
  size_t threads = 0;              // that touched nearly all of them
  const CodeLine* code = nullptr;  // that touched most
};

Touch TouchOf(const SiteView& site) {
  constexpr double kNearlyAll = 0.95;
  std::map<uint32_t, double> by_thread;
  double all = 0;
  for (const FirstTouch& touch : site.first_touch) {
    by_thread[touch.thread] += static_cast<double>(touch.pages);
    all += static_cast<double>(touch.pages);
  }
  std::vector<double> pages;
  for (const auto& [thread, count] : by_thread) pages.push_back(count);
  std::sort(pages.rbegin(), pages.rend());
  Touch result;
  double sum = 0;
  while (result.threads < pages.size() && sum < kNearlyAll * all) sum += pages[result.threads++];
  if (!site.first_touch.empty()) result.code = &site.first_touch.front().where;
  return result;
}

std::string TouchText(const Touch& touch, const Terminal& terminal) {
  return Concat(Plural(touch.threads, "thread"), " in ", CodeText(*touch.code, terminal));
}

}  // namespace

std::string PointsText(const Change& change, const Terminal& terminal) {
  if (!change.IsKnown()) return "-";
  std::string text = Signed(100 * change.Value(), terminal);
  if (!change.HasInterval()) return text;
  return Concat(text, " ", terminal.glyphs().plus_minus, Fixed(100 * change.HalfWidth(), 1));
}

std::string RelativeText(const Change& change, const Terminal& terminal) {
  if (!change.IsKnown() || *change.before <= 0) return "-";
  const double unit = 100 / *change.before;
  std::string text = Signed(unit * change.Value(), terminal);
  if (!change.HasInterval()) return text;
  return Concat(text, " ", terminal.glyphs().plus_minus, Fixed(unit * change.HalfWidth(), 1));
}

std::string SharesText(const Change& change, const Terminal& terminal) {
  const auto before = change.after ? PercentNumber : Percent;  // the unit once
  return Becomes(change.before ? before(*change.before) : "-",
                 change.after ? Percent(*change.after) : "-", terminal);
}

std::string DurationText(double nanos) { return HumanDuration(Whole(nanos)); }

std::string DurationsText(const Change& change, const Terminal& terminal) {
  return Becomes(change.before ? DurationText(*change.before) : "-",
                 change.after ? DurationText(*change.after) : "-", terminal);
}

std::string CyclesText(double cycles) { return GroupedCount(Whole(cycles)); }

std::string CyclesText(const Change& change, const Terminal& terminal) {
  return Becomes(change.before ? CyclesText(*change.before) : "-",
                 change.after ? CyclesText(*change.after) : "-", terminal);
}

std::string PagesText(const SiteRuns& before, const SiteRuns& after, const Terminal& terminal) {
  const std::map<int32_t, double> a = PagesOf(before);
  const std::map<int32_t, double> b = PagesOf(after);
  std::map<int32_t, double> both = a;
  both.insert(b.begin(), b.end());
  std::vector<int32_t> nodes;
  for (const auto& [node, count] : both) nodes.push_back(node);
  return Becomes(PagesOn(a, nodes), PagesOn(b, nodes), terminal);
}

std::string FirstTouchText(const DiffRow& row, const Terminal& terminal) {
  if (row.before.first() == nullptr || row.after.first() == nullptr) return "";
  const Touch before = TouchOf(*row.before.first());
  const Touch after = TouchOf(*row.after.first());
  if (before.code == nullptr || after.code == nullptr) return "";
  const bool same_code = before.code->function == after.code->function;
  const bool as_many = before.threads < 2 * after.threads && after.threads < 2 * before.threads;
  if (same_code && as_many) return "";
  return Concat("First touch of ", row.before.Id(), ": ",
                Becomes(TouchText(before, terminal), TouchText(after, terminal), terminal), ".");
}

std::string SpreadText(const DiffRow& row, const Terminal& terminal) {
  const Change& change = row.busiest_node;
  if (row.spread_verdict != Verdict::kFixed || !change.IsKnown()) return "";
  const Interval& now = change.after_interval;
  const double half = std::max(*change.after - now.low, now.high - *change.after);
  return Concat(row.before.Id(), ": one node's memory served ", Percent(*change.before),
                " of it, now no node's more than ", Percent(*change.after), " (",
                terminal.glyphs().plus_minus, Fixed(100 * half, 1), ").");
}

}  // namespace memagent::viewer
