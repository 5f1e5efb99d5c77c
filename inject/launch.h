// Starts a program with the agent preloaded and waits for it.
#ifndef MEMAGENT_INJECT_LAUNCH_H_
#define MEMAGENT_INJECT_LAUNCH_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace memagent::inject {

// Path of libmemagent.so: $MEMAGENT_LIBRARY, else beside this executable as built (../agent) or as
// installed (../lib, ../lib/memagent). On failure "" and `problem` holds one sentence.
std::string FindAgentLibrary(std::string& problem);

// LD_PRELOAD with the agent first and what was there after it; once, however often we nest.
std::string PreloadValue(const std::string& library, const std::string& present);

struct Environment {
  std::string name;
  std::string value;
};

struct LaunchResult {
  pid_t pid = -1;
  int status = 125;     // what memagent should exit with
  std::string problem;  // one sentence when the program could not be started
};

// Forks, sets the variables, executes `command` as execvp(3) does and waits for its end. While
// waiting, SIGINT and SIGQUIT are ignored, as they reach the program through the terminal, and
// SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are passed on, as they reach us alone.
LaunchResult Launch(const std::vector<std::string>& command,
                    const std::vector<Environment>& variables);

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_LAUNCH_H_
