// memagent diff: what changed between profiles of one program.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <deque>
#include <ostream>
#include <utility>

#include "viewer/command_line.h"
#include "viewer/commands.h"
#include "viewer/concat.h"
#include "viewer/diff.h"
#include "viewer/diff_json.h"
#include "viewer/diff_text.h"
#include "viewer/fail_if.h"
#include "viewer/query.h"

namespace memagent::viewer {
namespace {

using Words = std::vector<std::string>;

struct DiffOptions {
  Words before;
  Words after;
  Words fail_if;
  std::string format = "text";
  bool all = false;
  size_t width = 0;
};

std::optional<int> ParseOptions(Words args, DiffOptions& options, std::ostream& out,
                                std::ostream& err) {
  CLI::App app(
      "What changed between profiles of one program:\n"
      "  memagent diff BEFORE AFTER\n"
      "  memagent diff BEFORE... --vs AFTER...    several runs, which then show how much runs "
      "differ",
      "memagent diff");
  app.add_option("PROFILE", options.before, "BEFORE and AFTER; with --vs the runs before")
      ->required();
  app.add_option("--vs", options.after, "The runs after the change");
  app.add_option("--format", options.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_flag("--all", options.all, "Every site, also those with too few samples to judge");
  app.add_option("--fail-if", options.fail_if,
                 "Exit with 1 when this holds, as 'S*.remote>+5' or '*.verdict=worse'; may be "
                 "given more than once")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--width", options.width, "Columns to use, at least 80 (the terminal's)")
      ->check(CLI::Range(1, 10'000));
  if (const auto code = ParseWords(app, std::move(args), out, err)) return code;
  if (!options.after.empty()) return std::nullopt;
  if (options.before.size() != 2) {
    Complain(
        err,
        "diff takes BEFORE and AFTER, or several runs as BEFORE... --vs AFTER...: see memagent "
        "diff --help.");
    return kExitUsage;
  }
  options.after.push_back(std::move(options.before.back()));
  options.before.pop_back();
  return std::nullopt;
}

// Views stay where they are when more are added.
using Views = std::deque<View>;

bool LoadSide(const Words& paths, Views& views, DiffSide& side, std::ostream& err) {
  for (const std::string& path : paths) {
    std::optional<Loaded> loaded = LoadForCommand(path, err);
    if (!loaded) return false;
    views.push_back(BuildView(std::move(loaded->profile)));
    side.Add(views.back(), loaded->path);
  }
  return true;
}

// The exit code: whether any condition holds. What does not hold is not mentioned.
int CheckConditions(const std::vector<FailCondition>& conditions, const Diff& diff,
                    std::ostream& err) {
  int code = kExitOk;
  for (const FailCondition& condition : conditions) {
    const FailOutcome outcome = CheckFailCondition(condition, diff);
    for (const std::string& sentence : outcome.unjudged) Complain(err, sentence);
    for (const std::string& sentence : outcome.failures) Complain(err, sentence);
    if (!outcome.failures.empty() && code == kExitOk) code = kExitFailed;
    if (outcome.problem.empty()) continue;
    Complain(err, outcome.problem);
    code = kExitUsage;
  }
  return code;
}

}  // namespace

int DiffCommand(Words args, std::ostream& out, std::ostream& err) {
  DiffOptions options;
  if (const auto code = ParseOptions(std::move(args), options, out, err)) return *code;
  std::vector<FailCondition> conditions;
  for (const std::string& text : options.fail_if) {
    ParsedCondition parsed = ParseFailCondition(text);
    if (!parsed.condition) {
      Complain(err, parsed.problem);
      return kExitUsage;
    }
    conditions.push_back(std::move(*parsed.condition));
  }
  Views views;
  DiffSide before;
  DiffSide after;
  const bool loaded =
      LoadSide(options.before, views, before, err) && LoadSide(options.after, views, after, err);
  if (!loaded) return kExitUsage;
  const Diff diff = Compare(before, after);
  out << (options.format == "json"
              ? JsonText(DiffJson(diff, before, after))
              : DiffText(diff, before, after, options.all, DetectTerminal(options.width)));
  return CheckConditions(conditions, diff, err);
}

}  // namespace memagent::viewer
