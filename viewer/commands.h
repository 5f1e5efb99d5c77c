// The viewer's commands. `args` are the words behind the command's name. They return the exit code:
// 0, or 2 for wrong usage and unreadable input; results go to `out`, messages to `err`.
#ifndef MEMAGENT_VIEWER_COMMANDS_H_
#define MEMAGENT_VIEWER_COMMANDS_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace memagent::viewer {

int ReportCommand(std::vector<std::string> args, std::ostream& out, std::ostream& err);
int InfoCommand(std::vector<std::string> args, std::ostream& out, std::ostream& err);
int AdviseCommand(std::vector<std::string> args, std::ostream& out, std::ostream& err);
int DiffCommand(std::vector<std::string> args, std::ostream& out, std::ostream& err);
int DumpCommand(std::vector<std::string> args, std::ostream& out, std::ostream& err);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_COMMANDS_H_
