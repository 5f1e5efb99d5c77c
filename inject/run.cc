// `memagent run`: prepare, launch, say where the profile is.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "inject/commands.h"
#include "inject/launch.h"
#include "inject/program.h"
#include "inject/run_arguments.h"
#include "inject/run_summary.h"

namespace memagent::inject {
namespace {

constexpr int kOwnFailure = 125;

void Say(const std::string& text) { fprintf(stderr, "memagent: %s\n", text.c_str()); }

std::string FromEnvironment(const char* name) {
  const char* value = getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value != nullptr ? value : "";
}

// The file in which the agents of this run name their profiles: ours alone (mkstemp makes it 0600),
// gone when the run is over. Path "" when no folder could hold it.
class ReportFile {
 public:
  ReportFile() {
    std::string folder = FromEnvironment("TMPDIR");
    for (const std::string& place :
         {folder.empty() ? std::string("/tmp") : folder, std::string(".")}) {
      std::error_code error;
      std::string name = place + "/memagent-run.XXXXXX";
      const int fd = mkstemp(name.data());
      if (fd < 0) continue;
      close(fd);
      char* absolute = realpath(name.c_str(), nullptr);
      path_ = absolute != nullptr ? absolute : name;
      free(absolute);
      return;
    }
  }
  ~ReportFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;
  const std::string& path() const { return path_; }
  RunReport Read() const {
    std::ifstream file(path_, std::ios::binary);
    return ParseRunReport(std::string(std::istreambuf_iterator<char>(file), {}));
  }

 private:
  std::string path_;
};

// Why the command cannot be measured, said before it runs; "" when it can.
std::string WhyNotMeasurable(const std::string& command) {
  if (FromEnvironment("MEMAGENT") == "off") return "MEMAGENT=off is set in the environment.";
  const std::string why = WhyNotMeasured(InspectProgram(command));
  if (!why.empty()) Say(why);
  return why;
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

int RunMeasured(const RunArguments& arguments, const std::string& why_not) {
  std::string problem;
  std::vector<Environment> variables;
  const ReportFile report;
  if (why_not.empty()) {
    const std::string library = FindAgentLibrary(problem);
    if (!problem.empty()) {
      Say(problem);
      return kOwnFailure;
    }
    variables = AgentEnvironment(library, arguments.options, report.path());
  }
  const LaunchResult result = Launch(arguments.command, variables);
  if (!result.problem.empty()) {
    Say(result.problem);
    return result.status;
  }
  fputs(SummaryText(report.Read(), result.pid, why_not).c_str(), stderr);
  return result.status;
}

}  // namespace

int RunCommand(const std::vector<std::string>& args) {
  const RunArguments arguments = ParseRunArguments(args);
  if (arguments.help) {
    fputs(RunHelp().c_str(), stdout);
    return 0;
  }
  if (!arguments.problem.empty()) {
    Say(arguments.problem + ": see 'memagent run --help'.");
    return kOwnFailure;
  }
  return RunMeasured(arguments, WhyNotMeasurable(arguments.command.front()));
}

}  // namespace memagent::inject
