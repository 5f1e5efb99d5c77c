// memagent diff: what changed between two profiles.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <ostream>
#include <utility>

#include "viewer/command_line.h"
#include "viewer/commands.h"
#include "viewer/diff.h"
#include "viewer/diff_text.h"
#include "viewer/query.h"

namespace memagent::viewer {

int DiffCommand(std::vector<std::string> args, std::ostream& out, std::ostream& err) {
  std::string before_path;
  std::string after_path;
  std::string format = "text";
  bool all = false;
  size_t width = 0;
  CLI::App app("What changed between two profiles of one program.", "memagent diff");
  app.add_option("BEFORE", before_path, "Profile of the run to compare with")->required();
  app.add_option("AFTER", after_path, "Profile of the changed run")->required();
  app.add_option("--format", format, "text or json")->check(CLI::IsMember({"text", "json"}));
  app.add_flag("--all", all, "Every site, also those with too few samples to judge");
  app.add_option("--width", width, "Columns to use, at least 80 (the terminal's)")
      ->check(CLI::Range(1, 10'000));
  if (const auto code = ParseWords(app, std::move(args), out, err)) return *code;
  std::optional<Loaded> before = LoadForCommand(before_path, err);
  std::optional<Loaded> after = LoadForCommand(after_path, err);
  if (!before || !after) return kExitUsage;
  const View before_view = BuildView(std::move(before->profile));
  const View after_view = BuildView(std::move(after->profile));
  const Diff diff = Compare(before_view, after_view);
  const DiffSide before_side = {before_view, before->path};
  const DiffSide after_side = {after_view, after->path};
  out << (format == "json" ? JsonText(DiffJson(diff, before_side, after_side))
                           : DiffText(diff, before_side, after_side, all, DetectTerminal(width)));
  return kExitOk;
}

}  // namespace memagent::viewer
