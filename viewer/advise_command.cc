// memagent advise: which placement of each site's memory would help, and how much at most.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <ostream>
#include <utility>

#include "viewer/advise_text.h"
#include "viewer/command_line.h"
#include "viewer/commands.h"
#include "viewer/concat.h"
#include "viewer/query.h"
#include "viewer/terminal.h"

namespace memagent::viewer {
namespace {

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
  if (!words.site.empty() && AdvisedSites(view, words.site).empty()) {
    Complain(err, Concat("there is no site ", words.site, " in ", loaded->path,
                         view.sites.empty() ? ", which has no sites."
                                            : Concat(": S1 to S", view.sites.size(), ".")));
    return kExitUsage;
  }
  const AdviseOptions options = {words.site, words.all, loaded->path};
  out << (words.format == "json" ? JsonText(AdviseJson(view, options))
                                 : AdviseText(view, options, DetectTerminal(words.width)));
  return kExitOk;
}

}  // namespace memagent::viewer
