// The commands of `memagent` that start programs or ask the machine. Called by viewer/main.cc.
#ifndef MEMAGENT_INJECT_COMMANDS_H_
#define MEMAGENT_INJECT_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/profile/reader.h"

namespace memagent::inject {

// What `run --place` has to ask about profiles: the viewer's business, which this stage must not
// know. nullptr: nobody can tell.
struct ProfileQueries {
  // The number in the file of the site that the report calls `name` ("S3"); 0: there is none.
  uint32_t (*site_number)(const profile::Profile& profile, std::string_view name) = nullptr;
  // What memagent advises for a profile, as --place takes it ("S3@a.memagent=interleave"): at most
  // `most` rules, those that gain most; how many are left out. `problem` is one sentence when that
  // can't be told.
  std::vector<std::string> (*advised)(const std::string& path, size_t most, size_t& left_out,
                                      std::string& problem) = nullptr;
};

// `memagent run [OPTION...] [--] COMMAND...`; `args` are the words after "run". Starts the command
// under the agent and waits. Returns what the process is to exit with: the command's own status,
// 128+signal, or as env(1) does 125 (our own failure or usage), 126 (cannot be run), 127 (not
// found).
int RunCommand(const std::vector<std::string>& args, const ProfileQueries& queries = {});

// `memagent check [--json]`; says on stdout what this machine can measure. Returns 0 when a
// hardware engine can sample here, 1 when only the software engine can, 3 when nothing can; 2 on
// bad usage.
int CheckCommand(const std::vector<std::string>& args);

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_COMMANDS_H_
