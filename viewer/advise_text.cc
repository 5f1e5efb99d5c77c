#include "viewer/advise_text.h"

#include <algorithm>
#include <utility>

#include "viewer/advice.h"
#include "viewer/advice_text.h"
#include "viewer/concat.h"
#include "viewer/placement_json.h"
#include "viewer/report_text.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

constexpr size_t kIndent = 4;
constexpr size_t kLabel = 13;
constexpr size_t kRows = 10;  // sites, unless --all

// Those that the text has: the first with enough samples. With latencies sites are ranked by these,
// and one with few slow samples may be anywhere.
std::vector<const SiteView*> Shown(const std::vector<const SiteView*>& sites,
                                   const AdviseOptions& options) {
  if (options.all || !options.site.empty()) return sites;
  std::vector<const SiteView*> shown;
  for (const SiteView* site : sites) {
    if (shown.size() < kRows && !site->IsWeak()) shown.push_back(site);
  }
  if (shown.empty() && !sites.empty()) shown.push_back(sites.front());
  return shown;
}

std::string Line(std::string_view label, std::string_view text, const Terminal& terminal) {
  return Concat(std::string(kIndent, ' '), PadRight(label, kLabel),
                Wrap(text, terminal.width, kIndent + kLabel), "\n");
}

// How much of it is remote; "" on one node, where nothing can be.
std::string RemoteText(const View& view, const SiteView& site, const Diagnosis& diagnosis,
                       const Terminal& terminal) {
  if (!view.HasRemote()) return "";
  if (site.located_samples == 0) return ", none located";
  return Concat(", remote ", WithInterval(diagnosis.now.remote, diagnosis.now.interval, terminal));
}

std::string TitleOf(const View& view, const SiteView& site, const Diagnosis& diagnosis,
                    const Terminal& terminal) {
  std::string title = Concat(PadRight(site.id, kIndent), SiteName(site, terminal), " ",
                             SiteLocation(site, terminal));
  std::string text = Concat("  ", Percent(site.share), " of the memory samples",
                            RemoteText(view, site, diagnosis, terminal));
  const size_t room = terminal.width - std::min(terminal.width / 2, DisplayWidth(text));
  return Concat(terminal.Paint(Truncate(title, room, terminal.charset), Ink::kBold), text, "\n");
}

std::string SiteText(const View& view, const SiteView& site, const Diagnosis& diagnosis,
                     const std::string& path, const Terminal& terminal) {
  std::string text = Concat("\n", TitleOf(view, site, diagnosis, terminal));
  const bool helps = std::any_of(diagnosis.advice.begin(), diagnosis.advice.end(),
                                 [](const Advice& advice) { return advice.Helps(); });
  if (helps) {
    const std::vector<std::string> causes = CauseLines(view, site, diagnosis, terminal);
    for (size_t i = 0; i < causes.size(); ++i) {
      text += Line(i == 0 ? "cause" : "", causes[i], terminal);
    }
    text += Line("pattern", PatternText(diagnosis.pattern), terminal);
  }
  for (const Advice& advice : diagnosis.advice) {
    text += Line(terminal.glyphs().becomes, AdviceText(advice, terminal), terminal);
    const std::string effect = EffectText(view, diagnosis, advice, terminal);
    if (!effect.empty()) text += Line("", effect, terminal);
    const std::string command = TryCommand(view, site, advice, path, terminal);
    if (!command.empty()) Append(text, std::string(kIndent, ' '), "Try it: ", command, "\n");
  }
  return text;
}

// What holds for all of it.
std::string Introduction(const View& view) {
  if (!view.HasRemote()) return "The machine has one NUMA node: no placement can help here.";
  return "Predictions: pages by node after the placement x use by node as sampled, with their 95 % "
         "intervals. At most: what is local then may be slow for other reasons.";
}

Json SiteJsonOf(const View& view, const SiteView& site, const std::string& path) {
  const Diagnosis diagnosis = Diagnose(view, site);
  Json json = {{"id", site.id},
               {"profile_site", site.profile_id},
               {"kind", site.kind},
               {"function", site.where.short_function},
               {"file", site.where.file},
               {"line", site.where.line},
               {"samples", site.samples},
               {"share", site.share},
               {"located_samples", site.located_samples},
               {"remote_samples", site.remote_samples}};
  AddDiagnosisJson(json, view, site, diagnosis);
  json["advice"] = AdviceJson(site, diagnosis, path);
  return json;
}

}  // namespace

std::vector<const SiteView*> AdvisedSites(const View& view, const std::string& id) {
  std::vector<const SiteView*> sites;
  for (const SiteView& site : view.sites) {
    if (!id.empty() ? site.id == id : site.samples > 0) sites.push_back(&site);
  }
  return sites;
}

std::string AdviseText(const View& view, const AdviseOptions& options, const Terminal& terminal) {
  std::string text =
      Concat(HeaderText(view, terminal), "\n", Wrap(Introduction(view), terminal.width, 0), "\n");
  const std::vector<const SiteView*> sites = AdvisedSites(view, options.site);
  const std::vector<const SiteView*> shown = Shown(sites, options);
  bool rules = false;
  for (const SiteView* site : shown) {
    const Diagnosis diagnosis = Diagnose(view, *site);
    text += SiteText(view, *site, diagnosis, options.profile, terminal);
    for (const Advice& advice : diagnosis.advice) rules = rules || !advice.rule.empty();
  }
  if (shown.size() < sites.size()) {
    Append(text, "\n", Plural(sites.size() - shown.size(), "more site"), ": --all\n");
  }
  if (!rules || options.profile == "-") return text;
  return Concat(text, "\nAll of it:  memagent run --place-from ",
                terminal.Safe(ShellWord(options.profile)), " -- ", ProgramWords(view, terminal),
                "\n");
}

Json AdviseJson(const View& view, const AdviseOptions& options) {
  Json json = {{"profile", options.profile},
               {"engine", view.engine},
               {"nodes", view.node_count},
               {"memory_samples", view.tally.MemorySamples()}};
  json["sites"] = Json::array();
  for (const SiteView* site : AdvisedSites(view, options.site)) {
    json["sites"].push_back(SiteJsonOf(view, *site, options.profile));
  }
  return json;
}

}  // namespace memagent::viewer
