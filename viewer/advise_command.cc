// memagent advise: which placement of each site's memory would help, and how much at most.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <ostream>
#include <utility>

#include "viewer/advice.h"
#include "viewer/advice_text.h"
#include "viewer/command_line.h"
#include "viewer/commands.h"
#include "viewer/concat.h"
#include "viewer/placement_json.h"
#include "viewer/query.h"
#include "viewer/report_text.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

constexpr size_t kIndent = 4;
constexpr size_t kLabel = 13;
constexpr size_t kRows = 10;  // sites, unless --all

struct AdviseWords {
  std::string file;
  std::string site;
  std::string format = "text";
  bool all = false;
  size_t width = 0;
};

void Declare(CLI::App& app, AdviseWords& words) {
  app.add_option("FILE", words.file, "Profile; the newest *.memagent here if left out; - is stdin");
  app.add_option("--site", words.site, "Only this site, as numbered by report: S1");
  app.add_option("--format", words.format, "text or json")->check(CLI::IsMember({"text", "json"}));
  app.add_flag("--all", words.all, "Every site with samples");
  app.add_option("--width", words.width, "Columns to use, at least 80 (the terminal's)")
      ->check(CLI::Range(1, 10'000));
}

std::vector<const SiteView*> Chosen(const View& view, const AdviseWords& words) {
  std::vector<const SiteView*> sites;
  for (const SiteView& site : view.sites) {
    if (!words.site.empty() ? site.id == words.site : site.samples > 0) sites.push_back(&site);
  }
  return sites;
}

// How many of them the text has: those with enough samples come first as a rule.
size_t RowsOf(const std::vector<const SiteView*>& sites, const AdviseWords& words) {
  if (words.all || !words.site.empty()) return sites.size();
  const auto weak =
      std::find_if(sites.begin(), sites.end(), [](const SiteView* site) { return site->IsWeak(); });
  const auto strong = static_cast<size_t>(weak - sites.begin());
  return std::min(kRows, std::max<size_t>(strong, sites.empty() ? 0 : 1));
}

std::string Line(std::string_view label, std::string_view text, const Terminal& terminal) {
  return Concat(std::string(kIndent, ' '), PadRight(label, kLabel),
                Wrap(text, terminal.width, kIndent + kLabel), "\n");
}

std::string TitleOf(const SiteView& site, const Diagnosis& diagnosis, const Terminal& terminal) {
  std::string title = Concat(PadRight(site.id, kIndent), SiteName(site, terminal), " ",
                             SiteLocation(site, terminal));
  std::string text =
      Concat("  ", Percent(site.share), " of the memory samples, ",
             site.located_samples == 0
                 ? "none located"
                 : Concat("remote ",
                          WithInterval(diagnosis.now.remote, diagnosis.now.interval, terminal)));
  const size_t room = terminal.width - std::min(terminal.width / 2, DisplayWidth(text));
  return Concat(terminal.Paint(Truncate(title, room, terminal.charset), Ink::kBold), text, "\n");
}

std::string SiteText(const View& view, const SiteView& site, const std::string& path,
                     const Terminal& terminal) {
  const Diagnosis diagnosis = Diagnose(view, site);
  std::string text = Concat("\n", TitleOf(site, diagnosis, terminal));
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

std::string AsText(const View& view, const AdviseWords& words, const std::string& path) {
  const Terminal terminal = DetectTerminal(words.width);
  std::string text =
      Concat(HeaderText(view, terminal), "\n", Wrap(Introduction(view), terminal.width, 0), "\n");
  const std::vector<const SiteView*> sites = Chosen(view, words);
  const size_t rows = RowsOf(sites, words);
  bool rules = false;
  for (size_t i = 0; i < rows; ++i) {
    text += SiteText(view, *sites[i], path, terminal);
    for (const Advice& advice : Diagnose(view, *sites[i]).advice) {
      rules = rules || !advice.rule.empty();
    }
  }
  if (rows < sites.size())
    Append(text, "\n", Plural(sites.size() - rows, "more site"), ": --all\n");
  if (!rules) return text;
  return Concat(text, "\nAll of it:  memagent run --place-from ", terminal.Safe(ShellWord(path)),
                " -- ", ProgramWords(view, terminal), "\n");
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

std::string AsJson(const View& view, const AdviseWords& words, const std::string& path) {
  Json json = {{"profile", path},
               {"engine", view.engine},
               {"nodes", view.node_count},
               {"memory_samples", view.tally.MemorySamples()}};
  json["sites"] = Json::array();
  for (const SiteView* site : Chosen(view, words)) {
    json["sites"].push_back(SiteJsonOf(view, *site, path));
  }
  return JsonText(json);
}

}  // namespace

int AdviseCommand(std::vector<std::string> args, std::ostream& out, std::ostream& err) {
  AdviseWords words;
  CLI::App app("Which placement of each allocation's memory would help, and how much at most.",
               "memagent advise");
  Declare(app, words);
  if (const auto code = ParseWords(app, std::move(args), out, err)) return *code;
  std::optional<Loaded> loaded = LoadForCommand(words.file, err);
  if (!loaded) return kExitUsage;
  const View view = BuildView(std::move(loaded->profile));
  if (!words.site.empty() && Chosen(view, words).empty()) {
    Complain(err, Concat("there is no site ", words.site, " in ", loaded->path,
                         view.sites.empty() ? ", which has no sites."
                                            : Concat(": S1 to S", view.sites.size(), ".")));
    return kExitUsage;
  }
  out << (words.format == "json" ? AsJson(view, words, loaded->path)
                                 : AsText(view, words, loaded->path));
  return kExitOk;
}

}  // namespace memagent::viewer
