#include "viewer/site_table.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "viewer/access_text.h"
#include "viewer/concat.h"
#include "viewer/table.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

std::string ShareText(const View& view, uint64_t part, const Terminal& terminal) {
  const uint64_t whole = view.tally.MemorySamples();
  if (whole == 0) return "-";
  return Concat(PercentNumber(Share(part, whole)), " ", terminal.glyphs().plus_minus,
                Fixed(HalfWidth(part, whole, view.design_effect) * 100, 1), " %");
}

class SiteTable {
 public:
  SiteTable(const View& view, const Terminal& terminal)
      : view_(view), terminal_(terminal), table_(Columns(view, terminal)) {
    for (const SiteView& site : view.sites) longest_ = std::max(longest_, site.samples);
    longest_ = std::max(longest_, view.tally.UnattributedMemory());
  }

  std::string Run(size_t rows) {
    rows = std::min(rows, view_.sites.size());
    FindTwins(rows);
    for (size_t i = 0; i < rows; ++i) AddSite(view_.sites[i]);
    if (rows < view_.sites.size()) AddOthers(rows);
    AddUnattributed();
    return Concat(table_.Render(terminal_), Footnotes(rows));
  }

 private:
  static std::vector<Column> Columns(const View& view, const Terminal& terminal) {
    std::vector<Column> columns = {
        {"ID", Align::kLeft, 0, false, 0, 0},
        {"SITE", Align::kLeft, 0, true, 24, 0},
        {"KIND", Align::kLeft, 1, false, 0, 0},
        {view.TellsAllocations() ? "PEAK" : "SIZE", Align::kRight, 0, false, 0, 0}};
    if (view.TellsAllocations()) {
      columns.push_back({"LIVE", Align::kRight, 4, false, 0, 0});
      columns.push_back({"ALLOCS", Align::kRight, 2, false, 0, 0});
    }
    columns.push_back({"SAMPLES", Align::kRight, view.HasLatency() ? 5 : 0, false, 0, 0});
    columns.push_back({"SHARE", Align::kRight, view.HasLatency() ? 6 : 0, false, 0, 0});
    if (view.TellsPages()) columns.push_back({"REMOTE", Align::kRight, 0, false, 0, 0});
    if (view.HasLatency()) {
      columns.push_back({"LATENCY", Align::kRight, 0, false, 0, 0});
      columns.push_back({CyclesHeader(view, terminal), Align::kRight, 0, false, 0, 0});
    }
    const std::string legend = BarLegend(view, terminal);
    columns.push_back(
        {legend, Align::kLeft, 3, true, std::max(kNarrowestBar, DisplayWidth(legend)), kWidestBar});
    return columns;
  }

  static std::string BarLegend(const View& view, const Terminal& terminal) {
    if (!view.TellsPages()) return "";
    return Concat(terminal.Pick("▇", "#"), " remote ", terminal.Pick("░", "."), " local");
  }

  double Length(uint64_t samples) const { return Share(samples, std::max(longest_, uint64_t{1})); }

  // The bar of one row: remote part strong; on one node all of it is strong.
  Bar BarOf(uint64_t samples, uint64_t remote) const {
    if (!view_.TellsPages()) return {Length(samples), 0};
    return {Length(remote), Length(samples - std::min(samples, remote))};
  }

  void AddSamples(std::vector<Cell>& cells, uint64_t samples, uint64_t located, uint64_t remote,
                  const AccessView& access) {
    cells.push_back({HumanCount(samples), "", false, {}});
    cells.push_back({ShareText(view_, samples, terminal_), "", false, {}});
    if (view_.TellsPages()) {
      cells.push_back({located == 0 ? "-" : Percent(Share(remote, located)), "", false, {}});
    }
    if (view_.HasLatency()) {
      cells.push_back({LatencyShareText(view_, access, terminal_), "", false, {}});
      cells.push_back({CyclesText(view_, access, terminal_), "", false, {}});
    }
    cells.push_back({"", "", false, BarOf(samples, remote)});
  }

  // Sites of the table that allocate in the same place, reached by different calls.
  void FindTwins(size_t rows) {
    for (size_t i = 0; i < rows; ++i) twins_[PlaceOf(view_.sites[i])].push_back(&view_.sites[i]);
  }

  std::string PlaceOf(const SiteView& site) const {
    return Concat(SiteName(site, terminal_), " ", SiteLocation(site, terminal_));
  }

  // Twins are told apart by the caller in which their stacks differ.
  Cell NameCell(const SiteView& site) const {
    const std::vector<const SiteView*>& twins = twins_.at(PlaceOf(site));
    const size_t depth = twins.size() > 1 ? FirstDifference(twins) : site.stack.size();
    if (depth >= site.stack.size()) {
      return {SiteName(site, terminal_), SiteLocation(site, terminal_), false, {}};
    }
    const CodeLine& caller = site.stack[depth];
    const std::string name = caller.short_function.empty() ? LocationText(caller, terminal_)
                                                           : terminal_.Safe(caller.short_function);
    return {SiteName(site, terminal_), Concat(terminal_.glyphs().arrow, " ", name), true, {}};
  }

  // The depth of the first frame that is not the same function in all stacks.
  static size_t FirstDifference(const std::vector<const SiteView*>& sites) {
    const std::vector<CodeLine>& first = sites.front()->stack;
    for (size_t depth = 0; depth < first.size(); ++depth) {
      for (const SiteView* site : sites) {
        if (depth >= site->stack.size()) return depth;
        if (site->stack[depth].function != first[depth].function) return depth;
      }
    }
    return first.size();
  }

  bool HasTwins() const {
    return std::any_of(twins_.begin(), twins_.end(),
                       [](const auto& entry) { return entry.second.size() > 1; });
  }

  Cell MemoryCell(std::string_view text, uint64_t count, double variance) const {
    return {EstimateText(text, count, variance, terminal_), "", false, {}};
  }

  void AddSite(const SiteView& site) {
    std::vector<Cell> cells;
    cells.push_back({Concat(site.id, site.IsWeak() ? "*" : ""), "", false, {}});
    cells.push_back(NameCell(site));
    cells.push_back({site.kind, "", false, {}});
    // What no call allocated has no count of calls, and perhaps no known size.
    const bool sized = site.bytes_peak > 0 || site.allocations > 0;
    const CountVariances& v = site.variances;
    cells.push_back(sized ? MemoryCell(HumanBytes(site.bytes_peak), site.bytes_peak, v.bytes_peak)
                          : kNoNumber);
    if (allocations_) {
      cells.push_back(sized ? MemoryCell(HumanBytes(site.bytes_live), site.bytes_live, v.bytes_live)
                            : kNoNumber);
      cells.push_back(site.allocations > 0 ? MemoryCell(HumanCount(site.allocations),
                                                        site.allocations, v.allocations)
                                           : kNoNumber);
    }
    AddSamples(cells, site.samples, site.located_samples, site.remote_samples, site.access);
    weak_ = weak_ || site.IsWeak();
    table_.AddRow(std::move(cells), site.IsWeak() ? Ink::kDim : Ink::kPlain);
  }

  void AddOthers(size_t first) {
    SiteView sum;
    for (size_t i = first; i < view_.sites.size(); ++i) {
      const SiteView& site = view_.sites[i];
      sum.samples += site.samples;
      sum.located_samples += site.located_samples;
      sum.remote_samples += site.remote_samples;
      sum.bytes_live += site.bytes_live;
      sum.allocations += site.allocations;
      sum.variances.Add(site.variances);
      sum.access.Add(site.access);
    }
    std::vector<Cell> cells = {{"", "", false, {}},
                               {Plural(view_.sites.size() - first, "other site"), "", false, {}},
                               kNoNumber,
                               kNoNumber};
    if (allocations_) {
      cells.push_back(
          MemoryCell(HumanBytes(sum.bytes_live), sum.bytes_live, sum.variances.bytes_live));
      cells.push_back(
          MemoryCell(HumanCount(sum.allocations), sum.allocations, sum.variances.allocations));
    }
    AddSamples(cells, sum.samples, sum.located_samples, sum.remote_samples, sum.access);
    table_.AddRow(std::move(cells));
  }

  void AddUnattributed() {
    std::vector<Cell> cells = {
        {"", "", false, {}}, {"not attributed", "", false, {}}, kNoNumber, kNoNumber};
    if (allocations_) cells.insert(cells.end(), 2, kNoNumber);
    AddSamples(cells, view_.tally.UnattributedMemory(), 0, 0, {});
    table_.AddRow(std::move(cells));
    for (const ReasonCount& reason : view_.tally.unattributed) {
      if (reason.name == "not_memory") continue;
      const std::string name = terminal_.Safe(reason.name);
      table_.AddNote(
          Concat(GroupedCount(reason.count), ": ", reason.meaning.empty() ? name : reason.meaning),
          kNoteIndent);
    }
  }

  std::string Footnotes(size_t rows) const {
    std::vector<std::string> notes = {Concat(
        "Share: of ", GroupedCount(view_.tally.MemorySamples()), " samples of memory accesses, ",
        terminal_.glyphs().plus_minus, " its 95 % interval.")};
    if (const uint64_t idle = view_.tally.NotMemory(); idle > 0) {
      notes.push_back(
          Concat(Plural(idle, "more sample"), " found no memory access under way: in no share."));
    }
    if (view_.HasLatency()) notes.push_back(std::string(kLatencyNote));
    if (weak_) notes.push_back(Concat("* Under ", kWeakSamples, " samples: a hint only."));
    if (HasTwins()) {
      notes.push_back(
          "Sites that allocate in one place are told apart by a caller; --by object "
          "sums them.");
    }
    if (rows < view_.sites.size()) notes.push_back("All sites: --all.");
    if (const std::string names = LeftOutNames(); !names.empty()) {
      notes.push_back(Concat("Left out at this width: ", names, " (--width 120)."));
    }
    std::string text;
    for (const std::string& note : notes) Append(text, Wrap(note, terminal_.width, 0), "\n");
    return terminal_.Paint(text, Ink::kDim);
  }

  // Without the bar, which only shows again what the share says.
  std::string LeftOutNames() const {
    std::string names;
    for (const std::string& name : table_.LeftOut(terminal_)) {
      if (name == BarLegend(view_, terminal_)) continue;
      Append(names, names.empty() ? "" : ", ", name);
    }
    return names;
  }

  inline static const Cell kNoNumber = {"-", "", false, {}};
  static constexpr size_t kNarrowestBar = 6;
  static constexpr size_t kWidestBar = 24;
  static constexpr size_t kNoteIndent = 6;

  const View& view_;
  const Terminal& terminal_;
  Table table_;
  const bool allocations_ = view_.TellsAllocations();
  uint64_t longest_ = 1;
  bool weak_ = false;
  std::map<std::string, std::vector<const SiteView*>> twins_;  // by place
};

}  // namespace

std::string SiteTableText(const View& view, size_t rows, const Terminal& terminal) {
  return SiteTable(view, terminal).Run(rows);
}

}  // namespace memagent::viewer
