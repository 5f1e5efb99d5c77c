// memagent: dispatches to one command.
#include <array>
#include <clocale>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "inject/commands.h"
#include "viewer/advice_rules.h"
#include "viewer/command_line.h"
#include "viewer/commands.h"
#include "viewer/concat.h"
#include "viewer/import/import_command.h"
#include "viewer/site_number.h"

namespace memagent::viewer {
namespace {

using Words = std::vector<std::string>;

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Words& args);
};

constexpr std::array<Command, 8> kCommands = {{
    {"run", "start a program under the agent",
     [](const Words& w) { return inject::RunCommand(w, {SiteNumber, PlacementRules}); }},
    {"check", "say what this machine can measure",
     [](const Words& w) { return inject::CheckCommand(w); }},
    {"report", "which allocations the program waits for, and where they are",
     [](const Words& w) { return ReportCommand(w, std::cout, std::cerr); }},
    {"advise", "which placement of memory would help, and how much at most",
     [](const Words& w) { return AdviseCommand(w, std::cout, std::cerr); }},
    {"info", "how a profile was made, what it cost and lost",
     [](const Words& w) { return InfoCommand(w, std::cout, std::cerr); }},
    {"diff", "what changed between two profiles",
     [](const Words& w) { return DiffCommand(w, std::cout, std::cerr); }},
    {"import", "a profile from what perf mem record wrote",
     [](const Words& w) { return importer::ImportCommand(w, std::cout, std::cerr); }},
    {"dump", "the records of a profile as text",
     [](const Words& w) { return DumpCommand(w, std::cout, std::cerr); }},
}};

void PrintHelp(std::ostream& out) {
  out << "Usage: memagent COMMAND [OPTION...]\n\n"
         "Finds the allocations a program waits for, and the NUMA node they are on.\n\n";
  for (const Command& command : kCommands) {
    out << "  " << command.name << std::string(9 - command.name.size(), ' ') << command.summary
        << '\n';
  }
  out << "\nmemagent COMMAND --help tells more; start with: memagent run -- PROGRAM\n";
}

int Dispatch(const Words& words) {
  const std::string_view name = words.empty() ? "" : std::string_view(words.front());
  if (name == "--help" || name == "-h" || name == "help") {
    PrintHelp(std::cout);
    return kExitOk;
  }
  if (name == "--version") {
    std::cout << "memagent " << MEMAGENT_VERSION << '\n';
    return kExitOk;
  }
  for (const Command& command : kCommands) {
    if (command.name == name) return command.run(Words(words.begin() + 1, words.end()));
  }
  if (words.empty()) {
    PrintHelp(std::cerr);
  } else {
    Complain(std::cerr, Concat("there is no command ", name, ": see memagent --help."));
  }
  return kExitUsage;
}

}  // namespace
}  // namespace memagent::viewer

int main(int argc, char** argv) {
  using memagent::viewer::Complain;
  std::setlocale(LC_CTYPE, "");
  try {
    const int code = memagent::viewer::Dispatch(std::vector<std::string>(argv + 1, argv + argc));
    if (std::cout.flush()) return code;
    Complain(std::cerr, "the result could not be written: is the disk full?");
  } catch (const std::exception& error) {  // out of memory, or a defect
    Complain(std::cerr,
             memagent::viewer::Concat("failed: ", error.what(), ": please report this."));
  }
  return memagent::viewer::kExitUsage;
}
