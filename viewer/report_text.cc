#include "viewer/report_text.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "viewer/concat.h"
#include "viewer/detail_text.h"
#include "viewer/own_cost_text.h"
#include "viewer/quality.h"
#include "viewer/table.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

// A site whose share is below this gets no detail of its own unless it is asked for.
constexpr double kDetailShare = 0.05;
constexpr size_t kDetails = 3;

// "a · b · c", broken between items only.
std::string Items(std::vector<std::string> items, const Terminal& terminal) {
  for (size_t i = 0; i + 1 < items.size(); ++i) Append(items[i], " ", terminal.glyphs().dot);
  return WrapItems(items, terminal.width, 0);
}

std::string Paragraph(std::string_view text, const Terminal& terminal) {
  return Concat(Wrap(text, terminal.width, 0), "\n");
}

std::string ShareText(const View& view, uint64_t part, const Terminal& terminal) {
  const uint64_t whole = view.tally.MemorySamples();
  if (whole == 0) return "-";
  return Concat(PercentNumber(Share(part, whole)), " ", terminal.glyphs().plus_minus,
                Fixed(HalfWidth(part, whole, view.design_effect) * 100, 1), " %");
}

// "68.1 % (67.6–68.5)"
std::string ShareAndInterval(const View& view, uint64_t part, uint64_t whole,
                             const Terminal& terminal) {
  const Interval interval = WilsonInterval(part, whole, view.design_effect);
  return Concat(Percent(Share(part, whole)), " (", Fixed(interval.low * 100, 1),
                terminal.glyphs().dash, Fixed(interval.high * 100, 1), ")");
}

std::string QualityLine(const View& view, const Terminal& terminal) {
  std::string text;
  for (const std::string& reason : view.quality.reasons) {
    Append(text, "  - ", Wrap(reason, terminal.width, 4), "\n");
  }
  return text;
}

// What is measured, in the words that fit the engine.
std::string_view Measure(const View& view) {
  return view.engine == "software" ? "sampled memory time" : "memory samples";
}

// --- verdict ---

std::string WorstSite(const View& view, const Terminal& terminal) {
  const uint64_t whole = view.tally.MemorySamples();
  if (view.sites.empty() || view.sites.front().samples == 0) {
    return Concat("No ", Measure(view), " could be booked on an allocation.");
  }
  const SiteView& worst = view.sites.front();
  const std::string location = SiteLocation(worst, terminal);
  return Concat("S1 takes ", ShareAndInterval(view, worst.samples, whole, terminal), " of the ",
                Measure(view), ": ", SiteName(worst, terminal), location.empty() ? "" : " ",
                location, worst.bytes_peak == 0 ? "" : ", ",
                worst.bytes_peak == 0 ? ""
                                      : EstimateText(HumanBytes(worst.bytes_peak), worst.bytes_peak,
                                                     worst.variances.bytes_peak, terminal) +
                                            " at its peak",
                ".");
}

std::string RemoteVerdict(const View& view, const Terminal& terminal) {
  if (!view.HasRemote()) {
    return "The machine has one NUMA node: remote access cannot occur, its columns are left out.";
  }
  if (view.located_samples == 0) return "No sample could be located on a node.";
  std::string text = Concat(ShareAndInterval(view, view.remote_samples, view.located_samples, terminal),
                            " of the located samples are accesses to another node's memory");
  const auto worst = std::max_element(
      view.sites.begin(), view.sites.end(),
      [](const SiteView& a, const SiteView& b) { return a.remote_samples < b.remote_samples; });
  if (worst == view.sites.end() || worst->remote_samples == 0) return text + ".";
  return Concat(text, "; ", worst->id, " has ",
                Percent(Share(worst->remote_samples, view.remote_samples)), " of them.");
}

std::string EngineLimits(const View& view) {
  if (!view.engine_record) return "";
  if (view.engine == "software") {
    return "The software engine estimates the time stalled on each allocation. It cannot know "
           "latency, cache level or the number of accesses: there are no such columns.";
  }
  if (view.engine_record->knows_latency()) return "";
  return Concat("The ", view.engine, " engine knows no latency: there is no such column.");
}

std::string VerdictText(const View& view, const Terminal& terminal) {
  std::string text = terminal.Paint(Paragraph(WorstSite(view, terminal), terminal), Ink::kBold);
  text += Paragraph(RemoteVerdict(view, terminal), terminal);
  const std::string limits = EngineLimits(view);
  if (!limits.empty()) text += Paragraph(limits, terminal);
  return text;
}

// --- table ---

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
        {"ID", Align::kLeft, 0, false, 0, 0},       {"SITE", Align::kLeft, 0, true, 24, 0},
        {"KIND", Align::kLeft, 1, false, 0, 0},     {"PEAK", Align::kRight, 0, false, 0, 0},
        {"LIVE", Align::kRight, 4, false, 0, 0},    {"ALLOCS", Align::kRight, 2, false, 0, 0},
        {"SAMPLES", Align::kRight, 0, false, 0, 0}, {"SHARE", Align::kRight, 0, false, 0, 0}};
    if (view.HasRemote()) columns.push_back({"REMOTE", Align::kRight, 0, false, 0, 0});
    const std::string legend = BarLegend(view, terminal);
    columns.push_back(
        {legend, Align::kLeft, 3, true, std::max(kNarrowestBar, DisplayWidth(legend)), kWidestBar});
    return columns;
  }

  static std::string BarLegend(const View& view, const Terminal& terminal) {
    if (!view.HasRemote()) return "";
    return Concat(terminal.Pick("▇", "#"), " remote ", terminal.Pick("░", "."), " local");
  }

  double Length(uint64_t samples) const { return Share(samples, std::max(longest_, uint64_t{1})); }

  // The bar of one row: remote part strong; on one node all of it is strong.
  Bar BarOf(uint64_t samples, uint64_t remote) const {
    if (!view_.HasRemote()) return {Length(samples), 0};
    return {Length(remote), Length(samples - std::min(samples, remote))};
  }

  void AddSamples(std::vector<Cell>& cells, uint64_t samples, uint64_t located, uint64_t remote) {
    cells.push_back({HumanCount(samples), "", false, {}});
    cells.push_back({ShareText(view_, samples, terminal_), "", false, {}});
    if (view_.HasRemote()) {
      cells.push_back({located == 0 ? "-" : Percent(Share(remote, located)), "", false, {}});
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
    cells.push_back(sized ? MemoryCell(HumanBytes(site.bytes_live), site.bytes_live, v.bytes_live)
                          : kNoNumber);
    cells.push_back(site.allocations > 0
                        ? MemoryCell(HumanCount(site.allocations), site.allocations, v.allocations)
                        : kNoNumber);
    AddSamples(cells, site.samples, site.located_samples, site.remote_samples);
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
    }
    std::vector<Cell> cells = {
        {"", "", false, {}},
        {Plural(view_.sites.size() - first, "other site"), "", false, {}},
        {"-", "", false, {}},
        {"-", "", false, {}},
        MemoryCell(HumanBytes(sum.bytes_live), sum.bytes_live, sum.variances.bytes_live),
        MemoryCell(HumanCount(sum.allocations), sum.allocations, sum.variances.allocations)};
    AddSamples(cells, sum.samples, sum.located_samples, sum.remote_samples);
    table_.AddRow(std::move(cells));
  }

  void AddUnattributed() {
    std::vector<Cell> cells = {{"", "", false, {}},  {"not attributed", "", false, {}},
                               {"-", "", false, {}}, {"-", "", false, {}},
                               {"-", "", false, {}}, {"-", "", false, {}}};
    AddSamples(cells, view_.tally.UnattributedMemory(), 0, 0);
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
  uint64_t longest_ = 1;
  bool weak_ = false;
  std::map<std::string, std::vector<const SiteView*>> twins_;  // by place
};

// --- details ---

std::string Details(const View& view, const ReportOptions& options, const Terminal& terminal) {
  std::string text;
  size_t shown = 0;
  for (const SiteView& site : view.sites) {
    const bool worth = !site.IsWeak() && (site.share >= kDetailShare || shown == 0);
    if (options.all ? site.samples == 0 : (!worth || shown == kDetails)) break;
    Append(text, "\n", DetailText(view, site, terminal));
    ++shown;
  }
  return text;
}

std::string NextCommand(const View& view, const ReportOptions& options, const Terminal& terminal) {
  const std::string file = terminal.Safe(ShellWord(options.profile));
  if (view.tally.MemorySamples() == 0) return Concat("Next:  memagent info ", file, "\n");
  return Concat("Next:  memagent report --by code ", file, "\n");
}

// Whether a site that the report is about would be better told with the lines of this module. That
// a system library has none is ordinary, and only said by `info`.
bool IsMissed(const View& view, const SymbolNote& note) {
  return std::any_of(view.sites.begin(), view.sites.end(), [&](const SiteView& site) {
    if (site.share < kDetailShare) return false;
    const bool code = !site.code.empty() && site.code.front().where.module == note.module;
    return code || site.where.module == note.module;
  });
}

std::string SymbolNotes(const View& view, const Terminal& terminal) {
  std::string text;
  for (const SymbolNote& note : view.symbol_notes) {
    if (!IsMissed(view, note)) continue;
    Append(text, "No lines: ", Wrap(terminal.Safe(note.text), terminal.width, 10), "\n");
  }
  return text.empty() ? "" : Concat("\n", terminal.Paint(text, Ink::kDim));
}

std::string CostParagraph(const View& view, const Terminal& terminal) {
  const std::string text = OwnCostText(view, terminal);
  if (text.empty()) return "";
  return Concat("\n", terminal.Paint(Wrap(text, terminal.width, 0), Ink::kDim), "\n");
}

// Sites with samples; all of them when no site has any, so that the table shows what was allocated.
size_t SampledSites(const View& view) {
  const auto first_without = std::find_if(view.sites.begin(), view.sites.end(),
                                          [](const SiteView& site) { return site.samples == 0; });
  const auto sampled = static_cast<size_t>(first_without - view.sites.begin());
  return sampled > 0 ? sampled : view.sites.size();
}

}  // namespace

std::string HeaderText(const View& view, const Terminal& terminal) {
  std::string command = Truncate(CommandLineText(view, terminal), terminal.width, terminal.charset);
  std::string text = Items({std::move(command), HumanDuration(view.wall_nanos),
                            Plural(view.threads.size(), "thread"), Plural(view.node_count, "node")},
                           terminal);
  text += "\n";
  Append(text,
         Items({EngineText(view, terminal), Plural(view.tally.seen, "sample"),
                Concat(GroupedCount(view.tally.Lost()), " lost"),
                Concat("quality ", QualityWord(view.quality.word))},
               terminal),
         "\n", QualityLine(view, terminal));
  if (view.IsSampled()) text += Paragraph(SamplingText(view, terminal), terminal);
  if (view.HasBudget()) text += Paragraph(BudgetText(view), terminal);
  return text;
}

std::string ReportText(const View& view, const ReportOptions& options, const Terminal& terminal) {
  if (!options.site.empty()) {
    for (const SiteView& site : view.sites) {
      if (site.id == options.site) return DetailText(view, site, terminal);
    }
    return "";
  }
  const size_t rows = options.all ? view.sites.size() : std::min(options.top, SampledSites(view));
  return Concat(HeaderText(view, terminal), "\n", VerdictText(view, terminal), "\n",
                SiteTable(view, terminal).Run(rows), Details(view, options, terminal),
                SymbolNotes(view, terminal), CostParagraph(view, terminal), "\n",
                NextCommand(view, options, terminal));
}

}  // namespace memagent::viewer
