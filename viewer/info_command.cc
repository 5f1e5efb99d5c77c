// memagent info: how a profile was made, and what it cost and lost.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <ostream>
#include <utility>

#include "viewer/command_line.h"
#include "viewer/commands.h"
#include "viewer/info_text.h"
#include "viewer/query.h"
#include "viewer/report_json.h"

namespace memagent::viewer {

int InfoCommand(std::vector<std::string> args, std::ostream& out, std::ostream& err) {
  std::string path;
  std::string format = "text";
  size_t width = 0;
  CLI::App app("How a profile was made, what it cost, and what was lost.", "memagent info");
  app.add_option("FILE", path, "Profile; the newest *.memagent here if left out; - is stdin");
  app.add_option("--format", format, "text or json")->check(CLI::IsMember({"text", "json"}));
  app.add_option("--width", width, "Columns to use, at least 80 (the terminal's)")
      ->check(CLI::Range(1, 10'000));
  if (const auto code = ParseWords(app, std::move(args), out, err)) return *code;
  std::optional<Loaded> loaded = LoadForCommand(path, err);
  if (!loaded) return kExitUsage;
  const View view = BuildView(std::move(loaded->profile));
  out << (format == "json" ? JsonText(SummaryJson(view)) : InfoText(view, DetectTerminal(width)));
  return kExitOk;
}

}  // namespace memagent::viewer
