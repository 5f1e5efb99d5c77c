// memagent report: what uses the memory, where it is and who is waiting for it.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <ostream>
#include <utility>

#include "viewer/breakdown.h"
#include "viewer/command_line.h"
#include "viewer/commands.h"
#include "viewer/concat.h"
#include "viewer/fate_grid.h"
#include "viewer/query.h"
#include "viewer/report_json.h"
#include "viewer/report_text.h"
#include "viewer/text.h"

namespace memagent::viewer {
namespace {

struct ReportWords {
  std::string file;
  std::string by = "site";
  std::string site;
  std::string format = "text";
  bool all = false;
  size_t width = 0;
  size_t top = 0;  // 0: not given
};

void Declare(CLI::App& app, ReportWords& words) {
  app.add_option("FILE", words.file, "Profile; the newest *.memagent here if left out; - is stdin");
  app.add_option("--by", words.by, "Group by: site, object, code, thread, node, level or fate")
      ->check(CLI::IsMember({"site", "object", "code", "thread", "node", "level", "fate"}));
  app.add_option("--site", words.site, "Only this site, as numbered in the table: S1");
  app.add_option("--format", words.format, "text, json, csv or md")
      ->check(CLI::IsMember({"text", "json", "csv", "md"}));
  app.add_flag("--all", words.all, "Every row, and the detail of every site with samples");
  app.add_option("--top", words.top, "Rows (10; JSON, CSV and Markdown: all)")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--width", words.width, "Columns to use, at least 80 (the terminal's)")
      ->check(CLI::Range(1, 10'000));
}

// The way to group, and how it is called in JSON.
struct Grouping {
  Grid (*grid)(const View&, const Terminal&) = nullptr;
  const char* key = "";
};

Grouping GroupingOf(const std::string& by) {
  if (by == "object") return {ObjectGrid, "objects"};
  if (by == "code") return {CodeGrid, "code"};
  if (by == "thread") return {ThreadGrid, "threads"};
  if (by == "node") return {NodeGrid, "node_pairs"};
  if (by == "level") return {LevelGrid, "levels"};
  if (by == "fate") return {FateGrid, "fates"};
  return {SiteGrid, "sites"};
}

// Keeps only the chosen site. False when there is none of that name.
bool ChooseSite(View& view, const std::string& id) {
  std::erase_if(view.sites, [&](const SiteView& site) { return site.id != id; });
  return !view.sites.empty();
}

std::string AsJson(const View& view, const ReportWords& words, const Terminal& terminal) {
  Json json = SummaryJson(view);
  if (words.by == "site") {
    json["sites"] = Json::array();
    const size_t rows = words.top > 0 ? std::min(words.top, view.sites.size()) : view.sites.size();
    for (size_t i = 0; i < rows; ++i) json["sites"].push_back(SiteJson(view, view.sites[i]));
  } else if (words.by != "thread") {  // the summary has all threads
    const Grouping grouping = GroupingOf(words.by);
    json[grouping.key] = GridJson(grouping.grid(view, terminal));
  }
  return JsonText(json);
}

size_t RowsOfText(const ReportWords& words) { return words.top > 0 ? words.top : 10; }

// `--top` for outputs that have every row unless it is given.
void KeepTop(Grid& grid, const ReportWords& words) {
  if (words.top > 0 && words.top < grid.rows.size()) grid.rows.resize(words.top);
}

std::string AsText(const View& view, const ReportWords& words, const std::string& path,
                   const Terminal& terminal) {
  if (words.by == "site") {
    return ReportText(view, {words.site, words.all, RowsOfText(words), path}, terminal);
  }
  const Grid grid = GroupingOf(words.by).grid(view, terminal);
  if (words.by == "level" && grid.rows.empty()) {
    return Concat(HeaderText(view, terminal), "\n",
                  Wrap("No level is known: only engines of hardware (ibs, pebs, spe) tell where an "
                       "access was served.",
                       terminal.width, 0),
                  "\n");
  }
  if (words.by == "fate" && grid.rows.empty()) {
    return Concat(HeaderText(view, terminal), "\n",
                  Wrap("No fate is known: only ProfileMe tells what became of an instruction.",
                       terminal.width, 0),
                  "\n");
  }
  const size_t rows = words.all ? grid.rows.size() : RowsOfText(words);
  return Concat(HeaderText(view, terminal), "\n", GridText(grid, rows, terminal));
}

std::string Render(const View& view, const ReportWords& words, const std::string& path) {
  const Terminal terminal = DetectTerminal(words.width);
  if (words.format == "json") return AsJson(view, words, terminal);
  if (words.format == "text") return AsText(view, words, path, terminal);
  Grid grid = GroupingOf(words.by).grid(view, terminal);
  KeepTop(grid, words);
  return words.format == "csv" ? GridCsv(grid) : GridMarkdown(grid);
}

}  // namespace

int ReportCommand(std::vector<std::string> args, std::ostream& out, std::ostream& err) {
  ReportWords words;
  CLI::App app("Which allocations the program waits for, who uses them, and where they are.",
               "memagent report");
  Declare(app, words);
  if (const auto code = ParseWords(app, std::move(args), out, err)) return *code;
  std::optional<Loaded> loaded = LoadForCommand(words.file, err);
  if (!loaded) return kExitUsage;
  View view = BuildView(std::move(loaded->profile));
  const size_t sites = view.sites.size();
  if (!words.site.empty() && !ChooseSite(view, words.site)) {
    Complain(err, Concat("there is no site ", words.site, " in ", loaded->path,
                         sites == 0 ? ", which has no sites." : Concat(": S1 to S", sites, ".")));
    return kExitUsage;
  }
  out << Render(view, words, loaded->path);
  return kExitOk;
}

}  // namespace memagent::viewer
