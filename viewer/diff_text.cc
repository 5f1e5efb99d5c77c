#include "viewer/diff_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "viewer/change_text.h"
#include "viewer/concat.h"
#include "viewer/diff_notes.h"
#include "viewer/run_measures.h"
#include "viewer/table.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

constexpr size_t kMostRows = 10;

Cell Text(std::string text) { return {std::move(text), "", false, {}}; }
Cell Text(std::string_view text) { return Text(std::string(text)); }

Column Fitting(std::string header, Align align, int drop_order = 0) {
  return {std::move(header), align, drop_order, false, 0, 0};
}

// The samples of a row in every run, as parts of the run's memory samples.
Change SumOfRows(const std::vector<const DiffRow*>& rows, const DiffSide& before,
                 const DiffSide& after) {
  const auto shares = [&rows](const DiffSide& side, bool is_before) {
    std::vector<Measured> result;
    for (size_t i = 0; i < side.runs.size(); ++i) {
      const View& view = *side.runs[i].view;
      uint64_t samples = 0;
      for (const DiffRow* row : rows) {
        const std::vector<const SiteView*>& runs = (is_before ? row->before : row->after).runs;
        if (i < runs.size() && runs[i] != nullptr) samples += runs[i]->samples;
      }
      result.push_back(MeasuredShare(samples, view.tally.MemorySamples(), view.design_effect));
    }
    return result;
  };
  return MakeChange(shares(before, true), shares(after, false));
}

Change Unattributed(const DiffSide& before, const DiffSide& after) {
  const auto shares = [](const DiffSide& side) {
    std::vector<Measured> result;
    for (const DiffRun& run : side.runs) {
      const Tally& tally = run.view->tally;
      result.push_back(MeasuredShare(tally.UnattributedMemory(), tally.MemorySamples(),
                                     run.view->design_effect));
    }
    return result;
  };
  return MakeChange(shares(before), shares(after));
}

class DiffReport {
 public:
  DiffReport(const Diff& diff, const DiffSide& before, const DiffSide& after,
             const Terminal& terminal)
      : diff_(diff), before_(before), after_(after), terminal_(terminal) {}

  std::string Run(bool all) {
    const std::string sites = Sites(all);  // finds out which columns are left out
    const std::string notes = DiffNotes(diff_, before_, after_, !all, left_out_, terminal_);
    return Concat(Header(), "\n", Totals(), "\n", sites, terminal_.Paint(notes, Ink::kDim));
  }

 private:
  std::string Side(std::string_view word, const DiffSide& side) const {
    std::string text;
    for (const DiffRun& run : side.runs) {
      const View& view = *run.view;
      const std::vector<std::string> items = {
          Concat(terminal_.Safe(run.path), ","), Concat(HumanDuration(view.wall_nanos), ","),
          Concat(Plural(view.tally.MemorySamples(), "memory sample"), ","),
          Concat(view.engine, " engine")};
      Append(text, PadRight(text.empty() ? word : "", 8), WrapItems(items, terminal_.width, 8),
             "\n");
    }
    return text;
  }

  std::string Header() const {
    std::string text = Concat(Side("before", before_), Side("after", after_));
    const Comparability& comparable = diff_.comparable;
    if (comparable.AreComparable()) {
      const std::string_view build = diff_.same_build ? "the same build" : "another build";
      return text +
             Wrap(Concat("Comparable: same program and arguments, engine, period and "
                         "machine type; ",
                         build, "."),
                  terminal_.width, 0) +
             "\n";
    }
    std::string differences = "Not comparable as they are, these differ:";
    for (const std::string& difference : comparable.differences) {
      Append(differences, " ", terminal_.Safe(difference), ";");
    }
    differences.back() = '.';
    for (const std::string& sentence : comparable.left_out) Append(differences, " ", sentence);
    return text + terminal_.Paint(Wrap(differences, terminal_.width, 0), Ink::kAlarm) + "\n";
  }

  // --- the table of totals ---

  std::string Judgement(const Change& change, Verdict verdict) const {
    if (change.HasInterval()) return std::string(VerdictWord(verdict));
    return before_.runs.size() + after_.runs.size() == 2 ? "one run each: no interval" : "";
  }

  template <typename TextOf>
  void AddTotal(Table& table, std::string_view name, const Change& change, TextOf text_of,
                Verdict verdict) const {
    const std::string relative = RelativeText(change, terminal_);
    table.AddRow({Text(name), Text(text_of(change.before.value_or(0))),
                  Text(text_of(change.after.value_or(0))),
                  Text(relative == "-" ? relative : Concat(relative, " %")),
                  Text(Judgement(change, verdict))});
  }

  std::string Totals() const {
    Table table({{"", Align::kLeft, 0, true, 24, 24},
                 Fitting("BEFORE", Align::kRight),
                 Fitting("AFTER", Align::kRight),
                 Fitting("CHANGE", Align::kRight),
                 Fitting("", Align::kLeft)});
    if (diff_.comparable.times) {
      AddTotal(table, "wall time", diff_.wall, DurationText, diff_.wall_verdict);
    }
    if (diff_.comparable.shares) AddSampled(table);
    return table.Render(terminal_);
  }

  void AddSampled(Table& table) const {
    const Verdict verdict = JudgeAmount(diff_.amount);
    if (diff_.amount_is_time) {
      AddTotal(table, "sampled memory time", diff_.amount, DurationText, verdict);
    } else {
      const auto count = [this](double samples) {
        const double weight = WeightOfSample(before_.first()).value_or(SampleWeight()).amount;
        return CyclesText(samples / weight);
      };
      AddTotal(table, "memory samples", diff_.amount, count, verdict);
    }
    if (diff_.has_latency && diff_.comparable.times) {
      AddTotal(
          table, "mean latency in cycles", diff_.latency,
          [](double cycles) { return CyclesText(cycles); }, diff_.latency_verdict);
    }
    if (!diff_.has_remote) return;
    const auto share = [](const std::optional<double>& value) {
      return value ? Percent(*value) : "-";
    };
    table.AddRow({Text(std::string_view("remote share")), Text(share(diff_.remote.before)),
                  Text(share(diff_.remote.after)),
                  Text(Concat(PointsText(diff_.remote, terminal_), " pts")),
                  Text(VerdictWord(diff_.remote_verdict))});
  }

  // --- the table of sites ---

  bool HasShares() const { return diff_.comparable.shares; }
  bool HasRemote() const { return diff_.has_remote && HasShares(); }
  bool HasTime() const { return diff_.amount_is_time && !diff_.has_latency; }
  bool HasCycles() const { return diff_.has_latency && diff_.comparable.times; }

  // The numbers before what is most worth its room are left out first.
  std::vector<Column> Columns() const {
    const std::string_view to = terminal_.glyphs().becomes;
    const std::string cost = diff_.has_latency ? "LATENCY" : "SHARE";
    std::vector<Column> columns = {Fitting("ID", Align::kLeft),
                                   {"SITE", Align::kLeft, 0, true, 16, 0}};
    const auto add = [&columns](std::string header, int drop_order) {
      columns.push_back(Fitting(std::move(header), Align::kRight, drop_order));
    };
    if (HasShares()) {
      add(Concat(cost, " ", to), 3);
      add(Concat(cost, " pts"), 0);
    }
    if (HasTime()) {
      add(Concat("TIME ", to), 5);
      add("TIME %", 4);
    }
    if (HasCycles()) {
      add(Concat("CYCLES ", to), 4);
      add("CYCLES %", 5);
    }
    if (HasRemote()) {
      add(Concat("REMOTE ", to), 2);
      add("REMOTE pts", 0);
    }
    if (diff_.has_remote) add(Concat("PAGES ", to), HasShares() ? 6 : 0);
    if (HasShares()) columns.push_back(Fitting("VERDICT", Align::kLeft));
    return columns;
  }

  // "-" on the side that does not have the site, rather than 0.
  static Change Shown(Change change, const DiffRow& row) {
    if (row.before.first() == nullptr) change.before.reset();
    if (row.after.first() == nullptr) change.after.reset();
    return change;
  }

  void AddSite(Table& table, const DiffRow& row) const {
    const SiteView& site = row.any();
    const std::string id =
        row.before.first() == nullptr ? Concat("(", row.after.Id(), ")") : row.before.Id();
    std::vector<Cell> cells = {
        Text(id), {SiteName(site, terminal_), SiteLocation(site, terminal_), false, {}}};
    if (HasShares()) {
      cells.push_back(Text(SharesText(Shown(diff_.CostOf(row), row), terminal_)));
      cells.push_back(Text(PointsText(diff_.CostOf(row), terminal_)));
    }
    if (HasTime()) {
      cells.push_back(Text(DurationsText(Shown(row.amount, row), terminal_)));
      cells.push_back(Text(RelativeText(row.amount, terminal_)));
    }
    if (HasCycles()) {
      cells.push_back(Text(CyclesText(row.latency, terminal_)));
      cells.push_back(Text(RelativeText(row.latency, terminal_)));
    }
    if (HasRemote()) {
      cells.push_back(Text(SharesText(row.remote, terminal_)));
      cells.push_back(Text(PointsText(row.remote, terminal_)));
    }
    if (diff_.has_remote) cells.push_back(Text(PagesText(row.before, row.after, terminal_)));
    if (HasShares()) cells.push_back(Text(VerdictWord(row.verdict)));
    const bool weak = row.verdict == Verdict::kNotEnoughSamples;
    table.AddRow(std::move(cells), weak ? Ink::kDim : Ink::kPlain);
  }

  // Sums have shares of samples, which next to shares of latency would say something else.
  void AddSum(Table& table, std::string name, const Change& share) const {
    std::vector<Cell> cells = {Text(std::string()), Text(std::move(name))};
    if (HasShares() && !diff_.has_latency) {
      cells.push_back(Text(SharesText(share, terminal_)));
      cells.push_back(Text(PointsText(share, terminal_)));
    }
    table.AddRow(std::move(cells));
  }

  std::string Sites(bool all) {
    Table table(Columns());
    std::vector<const DiffRow*> hidden;
    std::vector<std::string> sentences;  // below the table
    size_t shown = 0;
    for (const DiffRow& row : diff_.rows) {
      const bool judged = row.verdict != Verdict::kNotEnoughSamples;
      if (!all && (!judged || shown == kMostRows)) {
        hidden.push_back(&row);
        continue;
      }
      ++shown;
      AddSite(table, row);
      if (!judged) continue;
      for (std::string sentence : {SpreadText(row, terminal_), FirstTouchText(row, terminal_)}) {
        if (!sentence.empty()) sentences.push_back(std::move(sentence));
      }
    }
    if (!hidden.empty()) {
      AddSum(table, Plural(hidden.size(), "other site"), SumOfRows(hidden, before_, after_));
    }
    AddSum(table, "not attributed", Unattributed(before_, after_));
    left_out_ = table.LeftOut(terminal_);
    std::string text = table.Render(terminal_);
    if (!sentences.empty()) text += "\n";
    for (const std::string& sentence : sentences) {
      Append(text, Wrap(sentence, terminal_.width, 0), "\n");
    }
    return sentences.empty() ? text : text + "\n";
  }

  const Diff& diff_;
  const DiffSide& before_;
  const DiffSide& after_;
  const Terminal& terminal_;
  std::vector<std::string> left_out_;  // columns, at this width
};

}  // namespace

std::string DiffText(const Diff& diff, const DiffSide& before, const DiffSide& after, bool all,
                     const Terminal& terminal) {
  return DiffReport(diff, before, after, terminal).Run(all);
}

}  // namespace memagent::viewer
