// Command line of `memagent run`, made from the agent's option table.
#ifndef MEMAGENT_INJECT_RUN_ARGUMENTS_H_
#define MEMAGENT_INJECT_RUN_ARGUMENTS_H_

#include <string>
#include <string_view>
#include <vector>

namespace memagent::inject {

struct RunArguments {
  std::vector<std::string> command;
  std::string options;  // as MEMAGENT_OPTIONS wants them: "output=x,rate=4000"
  std::vector<std::string> place;  // --place, each: SITE=PLACEMENT, or "@" and a file of such
  std::string place_from;          // a profile
  bool help = false;
  std::string problem;  // one sentence when the words make no sense; then nothing else is set
};

// Pure. The command starts after the first "--", or at the first word that is no option.
RunArguments ParseRunArguments(const std::vector<std::string>& args);

// Text of `memagent run --help`: every row of the option table.
std::string RunHelp();

// A value as MEMAGENT_OPTIONS takes it: a comma is written "\,".
std::string EscapedValue(std::string_view value);

// `flags` applied after `environment` (the present MEMAGENT_OPTIONS, may be empty): later wins.
std::string MergeOptions(std::string_view environment, std::string_view flags);

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_RUN_ARGUMENTS_H_
