#include "inject/run_arguments.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <map>

#include "agent/base/options.h"
#include "inject/wrapped_text.h"

namespace memagent::inject {
namespace {

using Words = std::vector<std::string>;

constexpr size_t kHelpColumn = 28;
constexpr size_t kHelpWidth = 100;

// On the command line it has rules in place of the file that `run` writes for the agent.
constexpr std::string_view kPlace = "place";
constexpr std::string_view kPlacementHelp =
    "  --place SITE=PLACEMENT    Put the blocks of an allocation site elsewhere, with no rebuild; as\n"
    "                            often as needed. SITE is S3@PROFILE, a site of a report, or\n"
    "                            fn:FUNCTION[@LIBRARY], whatever that function causes to be\n"
    "                            allocated. PLACEMENT is bind:N[+N], interleave[:N+N],\n"
    "                            block[:N+N] (equal parts, one for each node), local, huge or\n"
    "                            nohuge. --place @FILE reads such rules from FILE, one a line.\n"
    "  --place-from PROFILE      Apply what memagent advise recommends for PROFILE.\n";

// "--fault_period,--fault-period", "--output,-o": the table's own name always works.
std::string FlagNames(const base::OptionInfo& option) {
  std::string names = "--" + std::string(option.name);
  std::string dashed = names;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  if (dashed != names) names += "," + dashed;
  if (option.name == "output") names += ",-o";
  return names;
}

std::string FlagValue(const std::string& value) {
  if (value == "true") return "1";
  return value == "false" ? "0" : value;
}

// CLI11 refuses words after "--" once an option was seen (2.1.2), so the two sides are parted
// first.
struct Sides {
  Words left;
  Words right;
  bool parted = false;
};

Sides SplitAtDashes(const Words& args) {
  const auto dashes = std::find(args.begin(), args.end(), "--");
  if (dashes == args.end()) return {args, {}, false};
  return {Words(args.begin(), dashes), Words(dashes + 1, args.end()), true};
}

// The flags in the order of the table, checked as the agent will check them.
std::string CollectOptions(const std::map<std::string_view, std::string>& values,
                           const CLI::App& app, RunArguments& result) {
  base::Options scratch;
  std::string options;
  for (const base::OptionInfo& option : base::OptionTable()) {
    if (option.name == kPlace || app.count("--" + std::string(option.name)) == 0) continue;
    std::string value = values.at(option.name);
    if (option.type == "flag") value = FlagValue(value);
    const std::string_view problem = base::SetOption(scratch, option.name, value);
    if (!problem.empty()) {
      result.problem = "--" + std::string(option.name) + "=" + value + ": " + std::string(problem);
      return "";
    }
    options = MergeOptions(options, std::string(option.name) + "=" + EscapedValue(value));
  }
  return options;
}

void SetCommand(const CLI::App& app, const Sides& sides, RunArguments& result) {
  result.command = app.remaining();
  if (!result.command.empty() && result.command.front().starts_with("-")) {
    result.problem = "there is no option " + result.command.front();
    return;
  }
  // A "--" behind the command's first word belongs to the command.
  if (!result.command.empty() && sides.parted) result.command.push_back("--");
  result.command.insert(result.command.end(), sides.right.begin(), sides.right.end());
  if (result.command.empty()) result.problem = "no command to run was given";
}

std::string HelpRow(const base::OptionInfo& option) {
  std::string row = option.name == "output" ? "  -o, --" : "  --";
  row += std::string(option.name) + " " + std::string(option.placeholder);
  if (row.size() + 2 > kHelpColumn) {
    row += "\n" + std::string(kHelpColumn, ' ');
  } else {
    row.resize(kHelpColumn, ' ');
  }
  AppendWrapped(std::string(option.help) + " Default: " + std::string(option.default_value) + ".",
                kHelpColumn, kHelpWidth, row);
  return row + "\n";
}

}  // namespace

RunArguments ParseRunArguments(const Words& args) {
  RunArguments result;
  const Sides sides = SplitAtDashes(args);
  CLI::App app;
  app.set_help_flag("");
  app.prefix_command();
  app.add_flag("-h,--help", result.help);
  app.add_option("--place", result.place)->allow_extra_args(false);
  app.add_option("--place-from,--place_from", result.place_from);
  std::map<std::string_view, std::string> values;
  for (const base::OptionInfo& option : base::OptionTable()) {
    std::string& value = values[option.name];
    if (option.name == kPlace) continue;
    if (option.type == "flag") {
      app.add_flag(FlagNames(option), value);
    } else {
      app.add_option(FlagNames(option), value);
    }
  }
  try {
    app.parse(Words(sides.left.rbegin(), sides.left.rend()));
  } catch (const CLI::Error& error) {
    result.problem = error.what();
    return result;
  }
  if (result.help) return result;
  result.options = CollectOptions(values, app, result);
  if (result.problem.empty()) SetCommand(app, sides, result);
  return result;
}

std::string RunHelp() {
  std::string text =
      "Usage: memagent run [OPTION]... [--] COMMAND [ARGUMENT]...\n"
      "Run COMMAND under the agent and say where its profile is.\n\n";
  for (const base::OptionInfo& option : base::OptionTable()) {
    if (option.name != kPlace) text += HelpRow(option);
  }
  text += kPlacementHelp;
  text +=
      "\nThe same names work in MEMAGENT_OPTIONS (\"rate=4000,verbose=1\"); what is given here "
      "wins.\n"
      "MEMAGENT=off runs COMMAND unmeasured. MEMAGENT_LIBRARY names another libmemagent.so.\n\n"
      "Exit status: COMMAND's own, 128+N when signal N ended it; 125 memagent itself failed or "
      "was\n"
      "misused, 126 COMMAND cannot be run, 127 it was not found.\n";
  return text;
}

std::string EscapedValue(std::string_view value) {
  std::string text;
  for (char c : value) {
    if (c == ',') text += '\\';
    text += c;
  }
  return text;
}

std::string MergeOptions(std::string_view environment, std::string_view flags) {
  std::string merged(environment);
  if (!merged.empty() && !flags.empty()) merged += ',';
  return merged.append(flags);
}

}  // namespace memagent::inject
