// memagent import: a perf.data file as a profile.
#ifndef MEMAGENT_VIEWER_IMPORT_IMPORT_COMMAND_H_
#define MEMAGENT_VIEWER_IMPORT_IMPORT_COMMAND_H_

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace memagent::importer {

// `args` are the words behind the command's name. Returns the exit code: 0, or 2 for wrong usage
// and input that cannot be read.
int ImportCommand(std::vector<std::string> args, std::ostream& out, std::ostream& err);

// "perf.memagent" for "/data/perf.data": in the current folder. "perf.data.old.memagent" for names
// that do not end in ".data".
std::string DefaultOutput(std::string_view input);

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_IMPORT_COMMAND_H_
