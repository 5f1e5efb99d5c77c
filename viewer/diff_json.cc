#include "viewer/diff_json.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace memagent::viewer {
namespace {

std::string_view BasisWord(Basis basis) {
  switch (basis) {
    case Basis::kSampling:
      return "sampling";
    case Basis::kPlacement:
      return "sampling and placement";
    case Basis::kRuns:
      return "runs";
    case Basis::kNone:
      break;
  }
  return "none";
}

Json IntervalJson(const Interval& interval) { return Json::array({interval.low, interval.high}); }

Json ValueJson(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json ChangeJson(const Change& change) {
  Json json = {{"before", ValueJson(change.before)},
               {"after", ValueJson(change.after)},
               {"change", change.IsKnown() ? Json(change.Value()) : Json(nullptr)}};
  const bool has = change.HasInterval();
  json["change_interval"] = has ? IntervalJson(change.interval) : Json(nullptr);
  json["judged_interval"] = has ? IntervalJson(change.judged) : Json(nullptr);
  json["basis"] = BasisWord(change.basis);
  return json;
}

Json ShareJson(const Change& change) {
  Json json = ChangeJson(change);
  json["before_interval"] = change.before ? IntervalJson(change.before_interval) : Json(nullptr);
  json["after_interval"] = change.after ? IntervalJson(change.after_interval) : Json(nullptr);
  json["samples_before"] = change.samples_before;
  json["samples_after"] = change.samples_after;
  return json;
}

Json PagesJson(const SiteRuns& site) {
  std::map<int32_t, uint64_t> pages;
  for (const SiteView* run : site.runs) {
    if (run == nullptr) continue;
    for (const NodePages& node : run->pages) pages[node.node] += node.pages;
  }
  Json json = Json::array();
  for (const auto& [node, count] : pages) json.push_back({{"node", node}, {"pages", count}});
  return json;
}

// Of the first run: who touches first does not need many runs.
Json FirstTouchJson(const SiteRuns& site) {
  Json json = Json::array();
  if (site.first() == nullptr) return json;
  std::map<std::pair<std::string, uint32_t>, std::pair<uint64_t, std::set<uint32_t>>> codes;
  for (const FirstTouch& touch : site.first()->first_touch) {
    auto& code = codes[{touch.where.short_function, touch.where.line}];
    code.first += touch.pages;
    code.second.insert(touch.thread);
  }
  for (const auto& [where, code] : codes) {
    json.push_back({{"function", where.first},
                    {"line", where.second},
                    {"threads", code.second.size()},
                    {"pages", code.first}});
  }
  return json;
}

Json IdJson(const SiteRuns& site) {
  return site.first() == nullptr ? Json(nullptr) : Json(site.Id());
}

Json RowJson(const Diff& diff, const DiffRow& row) {
  const SiteView& site = row.any();
  Json json = {{"id_before", IdJson(row.before)},
               {"id_after", IdJson(row.after)},
               {"kind", site.kind},
               {"function", site.where.short_function},
               {"file", site.where.file},
               {"line", site.where.line},
               {"matched_by", MatchedByWord(row.matched_by)},
               {"lines_moved", row.moved}};
  const Comparability& comparable = diff.comparable;
  if (comparable.shares) json["share"] = ShareJson(row.share);
  if (diff.has_latency) json["latency_share"] = ShareJson(row.latency_share);
  if (diff.has_latency && comparable.times) json["latency"] = ChangeJson(row.latency);
  if (diff.has_remote && comparable.shares) {
    json["remote_share"] = ShareJson(row.remote);
    json["busiest_node_share"] = ShareJson(row.busiest_node);
    json["spread_verdict"] =
        row.spread_verdict ? Json(VerdictWord(*row.spread_verdict)) : Json(nullptr);
  }
  if (comparable.shares && comparable.times) json["total"] = ChangeJson(row.amount);
  if (diff.has_remote) {
    json["pages_before"] = PagesJson(row.before);
    json["pages_after"] = PagesJson(row.after);
  }
  json["first_touch_before"] = FirstTouchJson(row.before);
  json["first_touch_after"] = FirstTouchJson(row.after);
  json["remote_verdict"] = VerdictWord(row.remote_verdict);
  json["cost_verdict"] = VerdictWord(row.cost_verdict);
  json["verdict"] = VerdictWord(row.verdict);
  return json;
}

Json RunJson(const DiffRun& run) {
  return {{"file", run.path},
          {"engine", run.view->engine},
          {"wall_ns", run.view->wall_nanos},
          {"samples_seen", run.view->tally.seen},
          {"attributed", run.view->tally.attributed},
          {"memory_samples", run.view->tally.MemorySamples()},
          {"located_samples", run.view->located_samples},
          {"remote_samples", run.view->remote_samples}};
}

Json RunsJson(const DiffSide& side) {
  Json json = Json::array();
  for (const DiffRun& run : side.runs) json.push_back(RunJson(run));
  return json;
}

Json MatchedJson(const Diff& diff) {
  Json json;
  uint64_t before = 0;
  uint64_t after = 0;
  Json methods = Json::object();
  for (size_t i = 0; i < kMatchedByCount; ++i) {
    const auto how = static_cast<MatchedBy>(i);
    const MatchCount& count = diff.matched[i];
    methods[std::string(MatchedByWord(how))] = {{"sites", count.sites},
                                                {"samples_before", count.samples_before},
                                                {"samples_after", count.samples_after}};
    if (how == MatchedBy::kNothing) continue;
    json["by_" + std::string(MatchedByWord(how))] = count.sites;
    before += count.samples_before;
    after += count.samples_after;
  }
  json["lines_moved"] = diff.moved_lines;
  json["new"] = diff.added;
  json["gone"] = diff.gone;
  json["samples_before"] = before;
  json["samples_after"] = after;
  json["methods"] = std::move(methods);
  return json;
}

void AddTotals(Json& json, const Diff& diff) {
  const Comparability& comparable = diff.comparable;
  if (comparable.times) {
    json["wall"] = ChangeJson(diff.wall);
    json["wall"]["verdict"] = VerdictWord(diff.wall_verdict);
  }
  if (comparable.shares && comparable.times) json["total"] = ChangeJson(diff.amount);
  if (diff.has_latency && comparable.times) {
    json["latency"] = ChangeJson(diff.latency);
    json["latency"]["verdict"] = VerdictWord(diff.latency_verdict);
  }
  if (!diff.has_remote || !comparable.shares) return;
  json["remote_share"] = ShareJson(diff.remote);
  json["remote_share"]["verdict"] = VerdictWord(diff.remote_verdict);
}

}  // namespace

Json DiffJson(const Diff& diff, const DiffSide& before, const DiffSide& after) {
  Json json;
  json["before"] = RunJson(before.runs.front());
  json["after"] = RunJson(after.runs.front());
  json["runs_before"] = RunsJson(before);
  json["runs_after"] = RunsJson(after);
  json["comparable"] = diff.comparable.AreComparable();
  json["differences"] = diff.comparable.differences;
  json["left_out"] = diff.comparable.left_out;
  json["same_build"] = diff.same_build;
  json["matched"] = MatchedJson(diff);
  json["judged_together"] = diff.tests;
  json["clumping_known"] = diff.tells_clumping;
  json["threads_moved"] = diff.threads_moved;
  AddTotals(json, diff);
  json["sites"] = Json::array();
  for (const DiffRow& row : diff.rows) json["sites"].push_back(RowJson(diff, row));
  return json;
}

}  // namespace memagent::viewer
