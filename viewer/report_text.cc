#include "viewer/report_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "agent/profile/reader_placement.h"
#include "viewer/access_text.h"
#include "viewer/cause.h"
#include "viewer/concat.h"
#include "viewer/detail_text.h"
#include "viewer/own_cost_text.h"
#include "viewer/quality.h"
#include "viewer/site_table.h"
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
    if (view.IsImport()) return "No memory access was sampled.";
    return Concat("No ", Measure(view), " could be booked on an allocation.");
  }
  if (view.HasLatency()) return LatencyVerdict(view, terminal);
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

// "; cause: first touched on another node (97.2 %)"; "" where it is not known.
std::string MainCause(const View& view, const SiteView& site) {
  const std::vector<Cause> causes = CausesOf(view, site);
  if (site.IsWeak() || causes.empty() || causes.front().kind == CauseKind::kUnknown) return "";
  return Concat("; cause: ", CausePhrase(causes.front().kind), " (",
                Percent(Share(causes.front().samples, site.remote_samples)), ")");
}

std::string RemoteVerdict(const View& view, const Terminal& terminal) {
  if (view.IsImport() && view.profile.header.machine().nodes_size() == 0) {
    return "The recording does not tell the machine's NUMA nodes.";
  }
  if (!view.HasRemote()) {
    return "The machine has one NUMA node: remote access cannot occur, its columns are left out.";
  }
  if (!view.TellsPages()) {
    return "Where the pages lie was not recorded: only the hardware's word tells near from far. "
           "perf record --phys-data --sample-cpu records both, for root.";
  }
  if (view.located_samples == 0) return "No sample could be located on a node.";
  std::string text =
      Concat(ShareAndInterval(view, view.remote_samples, view.located_samples, terminal),
             " of the located samples are accesses to another node's memory");
  const auto worst = std::max_element(
      view.sites.begin(), view.sites.end(),
      [](const SiteView& a, const SiteView& b) { return a.remote_samples < b.remote_samples; });
  if (worst == view.sites.end() || worst->remote_samples == 0) return text + ".";
  return Concat(text, "; ", worst->id, " has ",
                Percent(Share(worst->remote_samples, view.remote_samples)), " of them",
                MainCause(view, *worst), ".");
}

std::string EngineLimits(const View& view) {
  if (!view.engine_record || view.engine == "none") return "";
  if (view.engine == "software") {
    return "The software engine estimates the time stalled on each allocation. It cannot know "
           "latency, cache level or the number of accesses: there are no such columns.";
  }
  if (view.engine == "profileme") {
    return "ProfileMe tells no data addresses, so no sample is of an allocation: what became of "
           "the "
           "instructions, by code, says report --by fate.";
  }
  if (view.engine_record->knows_latency()) return "";
  return Concat("The ", view.engine, " engine knows no latency: there is no such column.");
}

std::string VerdictText(const View& view, const Terminal& terminal) {
  std::string text = terminal.Paint(Paragraph(WorstSite(view, terminal), terminal), Ink::kBold);
  text += Paragraph(RemoteVerdict(view, terminal), terminal);
  const std::string witnesses = WitnessText(view);
  if (!witnesses.empty()) text += Paragraph(witnesses, terminal);
  const std::string limits = EngineLimits(view);
  if (!limits.empty()) text += Paragraph(limits, terminal);
  return text;
}

// --- details ---

std::string Details(const View& view, const ReportOptions& options, const Terminal& terminal) {
  std::string text;
  size_t shown = 0;
  for (const SiteView& site : view.sites) {
    const bool worth = !site.IsWeak() && (site.share >= kDetailShare || shown == 0);
    if (options.all ? site.samples == 0 : (!worth || shown == kDetails)) break;
    Append(text, "\n", DetailText(view, site, options.profile, terminal));
    ++shown;
  }
  return text;
}

std::string NextCommand(const View& view, const ReportOptions& options, const Terminal& terminal) {
  const std::string file = terminal.Safe(ShellWord(options.profile));
  if (view.tally.MemorySamples() == 0) return Concat("Next:  memagent info ", file, "\n");
  if (view.remote_samples > 0) return Concat("Next:  memagent advise ", file, "\n");
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
  for (const auto& placement : view.profile.applied_placements) {
    text += Paragraph(Concat(profile::WasApplied(placement) ? "Placement: " : "Warning: placement ",
                             terminal.Safe(profile::PlacementText(placement)), "."),
                      terminal);
  }
  return text;
}

std::string ReportText(const View& view, const ReportOptions& options, const Terminal& terminal) {
  if (!options.site.empty()) {
    for (const SiteView& site : view.sites) {
      if (site.id == options.site) return DetailText(view, site, options.profile, terminal);
    }
    return "";
  }
  const size_t rows = options.all ? view.sites.size() : std::min(options.top, SampledSites(view));
  return Concat(HeaderText(view, terminal), "\n", VerdictText(view, terminal), "\n",
                SiteTableText(view, rows, terminal), Details(view, options, terminal),
                SymbolNotes(view, terminal), CostParagraph(view, terminal), "\n",
                NextCommand(view, options, terminal));
}

}  // namespace memagent::viewer
