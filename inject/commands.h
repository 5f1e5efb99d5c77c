// The commands of `memagent` that start programs or ask the machine. Called by viewer/main.cc.
#ifndef MEMAGENT_INJECT_COMMANDS_H_
#define MEMAGENT_INJECT_COMMANDS_H_

#include <string>
#include <vector>

namespace memagent::inject {

// `memagent run [OPTION...] [--] COMMAND...`; `args` are the words after "run". Starts the command
// under the agent and waits. Returns what the process is to exit with: the command's own status,
// 128+signal, or as env(1) does 125 (our own failure or usage), 126 (cannot be run), 127 (not
// found).
int RunCommand(const std::vector<std::string>& args);

// `memagent check [--json]`; says on stdout what this machine can measure. Returns 0 when a
// hardware engine can sample here, 1 when only the software engine can, 3 when nothing can; 2 on
// bad usage.
int CheckCommand(const std::vector<std::string>& args);

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_COMMANDS_H_
