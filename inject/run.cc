// `memagent run`: prepare, launch, say where the profile is.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "inject/commands.h"
#include "inject/launch.h"
#include "inject/placement.h"
#include "inject/program.h"
#include "inject/run_arguments.h"
#include "inject/run_summary.h"
#include "inject/temporary_file.h"

namespace memagent::inject {
namespace {

constexpr int kOwnFailure = 125;

void Say(const std::string& text) { fprintf(stderr, "memagent: %s\n", text.c_str()); }

std::string FromEnvironment(const char* name) {
  const char* value = getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value != nullptr ? value : "";
}

// As the agent reads it (runtime/settings.cc).
bool IsSwitchedOff() {
  const std::string value = FromEnvironment("MEMAGENT");
  return value == "off" || value == "0";
}

// Why the command cannot be measured; "" when it can.
std::string WhyNotMeasurable(const std::string& command) {
  if (IsSwitchedOff()) return "MEMAGENT=off is set in the environment.";
  return WhyNotMeasured(InspectProgram(command));
}

std::vector<Environment> AgentEnvironment(const std::string& library, const std::string& options,
                                          const std::string& report_path) {
  std::vector<Environment> variables = {
      {"LD_PRELOAD", PreloadValue(library, FromEnvironment("LD_PRELOAD"))},
      {"MEMAGENT_RUN_REPORT", report_path}};
  const std::string merged = MergeOptions(FromEnvironment("MEMAGENT_OPTIONS"), options);
  if (!merged.empty()) variables.push_back({"MEMAGENT_OPTIONS", merged});
  return variables;
}

// `options` with the file of rules, once that is written.
std::string WithPlacement(const std::string& options, const std::string& rules,
                          const TemporaryFile& file, std::string& problem) {
  if (!file.path().empty() && file.Write(rules)) {
    return MergeOptions(options, "place=" + EscapedValue(file.path()));
  }
  problem = "no folder can hold the placement rules: set TMPDIR to one that can be written.";
  return options;
}

// `rules`: the text of the agent's file of placement rules, "" for none.
int RunMeasured(const RunArguments& arguments, const std::string& rules,
                const std::string& why_not) {
  std::string problem;
  std::vector<Environment> variables;
  const TemporaryFile report("memagent-run");  // in it the agents name their profiles
  std::optional<TemporaryFile> rule_file;
  if (why_not.empty()) {
    const std::string library = FindAgentLibrary(problem);
    std::string options = arguments.options;
    if (problem.empty() && !rules.empty()) {
      options = WithPlacement(options, rules, rule_file.emplace("memagent-place"), problem);
    }
    if (!problem.empty()) {
      Say(problem);
      return kOwnFailure;
    }
    variables = AgentEnvironment(library, options, report.path());
  }
  const LaunchResult result = Launch(arguments.command, variables);
  if (!result.problem.empty()) {
    Say(result.problem);
    return result.status;
  }
  fputs(SummaryText(ParseRunReport(report.Read()), result.pid, why_not).c_str(), stderr);
  return result.status;
}

}  // namespace

int RunCommand(const std::vector<std::string>& args, const ProfileQueries& queries) {
  const RunArguments arguments = ParseRunArguments(args);
  if (arguments.help) {
    fputs(RunHelp().c_str(), stdout);
    return 0;
  }
  if (!arguments.problem.empty()) {
    Say(arguments.problem + ": see 'memagent run --help'.");
    return kOwnFailure;
  }
  std::string problem;
  std::string note;
  const std::string rules = PlacementFileText(arguments, queries, problem, note);
  if (!problem.empty()) {
    Say(problem);
    return kOwnFailure;
  }
  const std::string why_not = WhyNotMeasurable(arguments.command.front());
  if (!why_not.empty() && !rules.empty()) {
    // The result would be taken for that of the placement.
    Say("the program was not started, since nothing would be placed: " + why_not);
    return kOwnFailure;
  }
  if (!note.empty()) Say(note);
  if (!why_not.empty() && !IsSwitchedOff()) Say(why_not);  // else the user knows
  return RunMeasured(arguments, rules, why_not);
}

}  // namespace memagent::inject
