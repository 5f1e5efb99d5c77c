// What every command of the viewer shares: parsing its words, messages, loading its profile.
#ifndef MEMAGENT_VIEWER_COMMAND_LINE_H_
#define MEMAGENT_VIEWER_COMMAND_LINE_H_

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/profile/reader.h"

namespace CLI {
class App;
}

namespace memagent::viewer {

// Exit codes of the viewer's commands.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;  // a condition of --fail-if holds
inline constexpr int kExitUsage = 2;   // wrong words on the command line, or unreadable input

// Parses `args` (without program and command). Returns the exit code when the command is to end
// here:
// --help was printed, or an error was explained in one sentence on `err`.
std::optional<int> ParseWords(CLI::App& app, std::vector<std::string> args, std::ostream& out,
                              std::ostream& err);

// "memagent: <text>" as one line.
void Complain(std::ostream& err, std::string_view text);

// The profile and the name it is known by.
struct Loaded {
  profile::Profile profile;
  std::string path;
};

// Loads `path`; "" takes the newest *.memagent in the current folder and says which on `err`; "-"
// is standard input. Warnings of the reader go to `err`. Without a result, why not has been said
// there.
std::optional<Loaded> LoadForCommand(std::string path, std::ostream& err);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_COMMAND_LINE_H_
