#include "viewer/diff_text.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "viewer/concat.h"
#include "viewer/table.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

constexpr size_t kMostRows = 10;

Cell Text(std::string text) { return {std::move(text), "", false, {}}; }

TwoShares RemoteShares(const DiffSide& before, const DiffSide& after) {
  return {before.view.remote_samples, before.view.located_samples, after.view.remote_samples,
          after.view.located_samples, before.view.design_effect,   after.view.design_effect};
}

class DiffReport {
 public:
  DiffReport(const Diff& diff, const DiffSide& before, const DiffSide& after,
             const Terminal& terminal)
      : diff_(diff),
        before_(before),
        after_(after),
        terminal_(terminal),
        remote_(before.view.HasRemote() || after.view.HasRemote()) {}

  std::string Run(bool all) {
    return Concat(Header(), "\n", Totals(), "\n", Sites(all), Matching(all));
  }

 private:
  std::string Sign(double value) const {
    return std::string(value < 0 ? terminal_.glyphs().minus : "+");
  }

  // "−65.3 ±1.2": percentage points.
  std::string Change(const TwoShares& shares) const {
    if (shares.whole_before == 0 || shares.whole_after == 0) return "-";
    const double change = Share(shares.part_after, shares.whole_after) -
                          Share(shares.part_before, shares.whole_before);
    const Interval interval = DifferenceInterval(shares);
    const double half = std::max(change - interval.low, interval.high - change);
    return Concat(Sign(change), Fixed(std::fabs(change) * 100, 1), " ",
                  terminal_.glyphs().plus_minus, Fixed(half * 100, 1));
  }

  std::string Side(std::string_view word, const DiffSide& side) const {
    const std::vector<std::string> items = {
        Concat(terminal_.Safe(side.path), ","), Concat(HumanDuration(side.view.wall_nanos), ","),
        Concat(Plural(side.view.tally.MemorySamples(), "memory sample"), ","),
        Concat(side.view.engine, " engine")};
    return Concat(PadRight(word, 8), WrapItems(items, terminal_.width, 8), "\n");
  }

  std::string Header() const {
    std::string text = Concat(Side("before", before_), Side("after", after_));
    if (diff_.differences.empty()) {
      const std::string_view build = diff_.same_build ? "the same build" : "another build";
      return text +
             Wrap(Concat("Comparable: same program and arguments, engine, period and "
                         "machine type; ",
                         build, "."),
                  terminal_.width, 0) +
             "\n";
    }
    std::string differences = "Not comparable as they are, these differ:";
    for (const std::string& difference : diff_.differences) {
      Append(differences, " ", terminal_.Safe(difference), ";");
    }
    differences.back() = '.';
    return text + terminal_.Paint(Wrap(differences, terminal_.width, 0), Ink::kAlarm) + "\n";
  }

  void AddTotal(Table& table, std::string_view name, double before, double after,
                std::string before_text, std::string after_text) const {
    std::string change = "-";
    if (before > 0) {
      const double part = after / before - 1;
      change = Concat(Sign(part), Fixed(std::fabs(part) * 100, 1), " %");
    }
    table.AddRow({Text(std::string(name)), Text(std::move(before_text)),
                  Text(std::move(after_text)), Text(std::move(change)),
                  Text("one run each: no interval")});
  }

  std::string Totals() const {
    Table table({{"", Align::kLeft, 0, true, 24, 24},
                 {"BEFORE", Align::kRight, 0, false, 0, 0},
                 {"AFTER", Align::kRight, 0, false, 0, 0},
                 {"CHANGE", Align::kRight, 0, false, 0, 0},
                 {"", Align::kLeft, 0, false, 0, 0}});
    const View& a = before_.view;
    const View& b = after_.view;
    AddTotal(table, "wall time", static_cast<double>(a.wall_nanos),
             static_cast<double>(b.wall_nanos), HumanDuration(a.wall_nanos),
             HumanDuration(b.wall_nanos));
    AddMemoryTime(table);
    if (remote_) AddRemote(table);
    return table.Render(terminal_);
  }

  // Whether samples of both runs can be told as CPU time.
  bool HasTime() const {
    const std::optional<SampleWeight> a = WeightOfSample(before_.view);
    const std::optional<SampleWeight> b = WeightOfSample(after_.view);
    return a && b && a->unit == "ns" && b->unit == "ns";
  }

  static std::string TimeOf(double weight, uint64_t samples) {
    constexpr double kMostNanos = 9e18;  // a damaged file may say anything; 2^63 is 9.2e18
    const double nanos = std::min(weight * static_cast<double>(samples), kMostNanos);
    return HumanDuration(static_cast<uint64_t>(nanos));
  }

  void AddMemoryTime(Table& table) const {
    const uint64_t x = before_.view.tally.MemorySamples();
    const uint64_t y = after_.view.tally.MemorySamples();
    if (!HasTime()) {
      return AddTotal(table, "memory samples", static_cast<double>(x), static_cast<double>(y),
                      GroupedCount(x), GroupedCount(y));
    }
    const double a = WeightOfSample(before_.view)->amount;
    const double b = WeightOfSample(after_.view)->amount;
    AddTotal(table, "sampled memory time", a * static_cast<double>(x), b * static_cast<double>(y),
             TimeOf(a, x), TimeOf(b, y));
  }

  void AddRemote(Table& table) const {
    const TwoShares shares = RemoteShares(before_, after_);
    table.AddRow({Text("remote share"),
                  Text(Percent(Share(shares.part_before, shares.whole_before))),
                  Text(Percent(Share(shares.part_after, shares.whole_after))),
                  Text(Concat(Change(shares), " pts")),
                  Text(std::string(VerdictWord(JudgeChange(shares))))});
  }

  std::vector<Column> SiteColumns() const {
    std::vector<Column> columns = {{"ID", Align::kLeft, 0, false, 0, 0},
                                   {"SITE", Align::kLeft, 0, true, 20, 0},
                                   {"BEFORE", Align::kRight, 0, false, 0, 0},
                                   {"AFTER", Align::kRight, 0, false, 0, 0},
                                   {"CHANGE pts", Align::kRight, 0, false, 0, 0}};
    if (HasTime()) {
      columns.push_back(
          {Concat("TIME ", terminal_.glyphs().becomes), Align::kRight, 2, false, 0, 0});
    }
    if (remote_) {
      columns.push_back(
          {Concat("REMOTE ", terminal_.glyphs().becomes), Align::kRight, 1, false, 0, 0});
    }
    columns.push_back({"VERDICT", Align::kLeft, 0, false, 0, 0});
    return columns;
  }

  static std::string ShareOf(const SiteView* site, uint64_t part, uint64_t whole) {
    return site == nullptr ? "-" : Percent(Share(part, whole));
  }

  std::string RemoteOf(const SiteView* site) const {
    if (site == nullptr || site->located_samples == 0) return "-";
    return Percent(Share(site->remote_samples, site->located_samples));
  }

  void AddSite(Table& table, const DiffRow& row) const {
    const SiteView& site = row.any();
    const TwoShares& s = row.samples;
    const std::string id = row.before == nullptr ? Concat("(", site.id, ")") : row.before->id;
    std::vector<Cell> cells = {
        Text(id),
        {SiteName(site, terminal_), SiteLocation(site, terminal_), false, {}},
        Text(ShareOf(row.before, s.part_before, s.whole_before)),
        Text(ShareOf(row.after, s.part_after, s.whole_after)),
        Text(Change(s))};
    if (HasTime()) {
      cells.push_back(Text(Concat(TimeOf(row.totals.weight_before, s.part_before), " ",
                                  terminal_.glyphs().becomes, " ",
                                  TimeOf(row.totals.weight_after, s.part_after))));
    }
    if (remote_) {
      cells.push_back(Text(
          Concat(RemoteOf(row.before), " ", terminal_.glyphs().becomes, " ", RemoteOf(row.after))));
    }
    cells.push_back(Text(std::string(VerdictWord(row.verdict))));
    const bool weak = row.verdict == Verdict::kNotEnoughSamples;
    table.AddRow(std::move(cells), weak ? Ink::kDim : Ink::kPlain);
  }

  void AddSum(Table& table, std::string name, const TwoShares& s) const {
    std::vector<Cell> cells = {Text(""), Text(std::move(name)),
                               Text(Percent(Share(s.part_before, s.whole_before))),
                               Text(Percent(Share(s.part_after, s.whole_after))), Text(Change(s))};
    if (HasTime()) cells.push_back(Text(""));
    if (remote_) cells.push_back(Text(""));
    table.AddRow(std::move(cells));
  }

  std::string Sites(bool all) const {
    Table table(SiteColumns());
    TwoShares rest = {0,
                      before_.view.tally.MemorySamples(),
                      0,
                      after_.view.tally.MemorySamples(),
                      before_.view.design_effect,
                      after_.view.design_effect};
    size_t shown = 0;
    size_t hidden = 0;
    for (const DiffRow& row : diff_.rows) {
      const bool judged = row.verdict != Verdict::kNotEnoughSamples;
      if (all || (judged && shown < kMostRows)) {
        AddSite(table, row);
        ++shown;
        continue;
      }
      ++hidden;
      rest.part_before += row.samples.part_before;
      rest.part_after += row.samples.part_after;
    }
    if (hidden > 0) AddSum(table, Plural(hidden, "other site"), rest);
    rest.part_before = before_.view.tally.UnattributedMemory();
    rest.part_after = after_.view.tally.UnattributedMemory();
    AddSum(table, "not attributed", rest);
    return table.Render(terminal_);
  }

  std::string Matching(bool all) const {
    std::string text = Concat(
        "Shares of each run's memory samples; ", terminal_.glyphs().plus_minus,
        " is the 95 % interval of the change. Better and worse: both the share and the samples "
        "themselves changed that way, by more than chance. Matched ",
        Percent(Share(diff_.matched_samples_before, before_.view.tally.attributed)), " and ",
        Percent(Share(diff_.matched_samples_after, after_.view.tally.attributed)),
        " of the attributed samples: ", Plural(diff_.matched_by_stack, "site"), " by call stack, ",
        diff_.matched_by_function, " by function; ", diff_.added, " new, ", diff_.gone, " gone.");
    if (!all) text += " All sites: --all.";
    return terminal_.Paint(Wrap(text, terminal_.width, 0), Ink::kDim) + "\n";
  }

  const Diff& diff_;
  const DiffSide& before_;
  const DiffSide& after_;
  const Terminal& terminal_;
  bool remote_;
};

Json SharesJson(const TwoShares& shares) {
  const Interval interval = DifferenceInterval(shares);
  const double before = Share(shares.part_before, shares.whole_before);
  const double after = Share(shares.part_after, shares.whole_after);
  return {{"before", shares.whole_before == 0 ? Json(nullptr) : Json(before)},
          {"after", shares.whole_after == 0 ? Json(nullptr) : Json(after)},
          {"change", after - before},
          {"change_interval", Json::array({interval.low, interval.high})},
          {"samples_before", shares.part_before},
          {"samples_after", shares.part_after}};
}

Json TotalsJson(const TwoTotals& totals) {
  const Interval interval = ChangeInterval(totals);
  return {{"before", totals.weight_before * static_cast<double>(totals.samples_before)},
          {"after", totals.weight_after * static_cast<double>(totals.samples_after)},
          {"change", totals.Change()},
          {"change_interval", Json::array({interval.low, interval.high})}};
}

Json RowJson(const DiffRow& row) {
  constexpr const char* kMatched[] = {"call_stack", "function", "nothing"};
  const SiteView& site = row.any();
  return {{"id_before", row.before == nullptr ? Json(nullptr) : Json(row.before->id)},
          {"id_after", row.after == nullptr ? Json(nullptr) : Json(row.after->id)},
          {"kind", site.kind},
          {"function", site.where.short_function},
          {"file", site.where.file},
          {"line", site.where.line},
          {"matched_by", kMatched[static_cast<size_t>(row.matched_by)]},
          {"share", SharesJson(row.samples)},
          {"remote_share", SharesJson(row.remote)},
          {"total", TotalsJson(row.totals)},
          {"verdict", VerdictWord(row.verdict)}};
}

Json SideJson(const DiffSide& side) {
  return {{"file", side.path},
          {"engine", side.view.engine},
          {"wall_ns", side.view.wall_nanos},
          {"samples_seen", side.view.tally.seen},
          {"attributed", side.view.tally.attributed},
          {"memory_samples", side.view.tally.MemorySamples()},
          {"located_samples", side.view.located_samples},
          {"remote_samples", side.view.remote_samples}};
}

}  // namespace

std::string DiffText(const Diff& diff, const DiffSide& before, const DiffSide& after, bool all,
                     const Terminal& terminal) {
  return DiffReport(diff, before, after, terminal).Run(all);
}

Json DiffJson(const Diff& diff, const DiffSide& before, const DiffSide& after) {
  Json json;
  json["before"] = SideJson(before);
  json["after"] = SideJson(after);
  json["comparable"] = diff.differences.empty();
  json["differences"] = diff.differences;
  json["same_build"] = diff.same_build;
  json["matched"] = {{"by_call_stack", diff.matched_by_stack},
                     {"by_function", diff.matched_by_function},
                     {"new", diff.added},
                     {"gone", diff.gone},
                     {"samples_before", diff.matched_samples_before},
                     {"samples_after", diff.matched_samples_after}};
  json["remote_share"] = SharesJson(RemoteShares(before, after));
  json["sites"] = Json::array();
  for (const DiffRow& row : diff.rows) json["sites"].push_back(RowJson(row));
  return json;
}

}  // namespace memagent::viewer
