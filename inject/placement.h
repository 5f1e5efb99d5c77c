// `memagent run --place`: from the words of the command line to the agent's file of rules.
#ifndef MEMAGENT_INJECT_PLACEMENT_H_
#define MEMAGENT_INJECT_PLACEMENT_H_

#include <string>

#include "inject/commands.h"
#include "inject/run_arguments.h"

namespace memagent::inject {

// Text of the file that the option place= names; "" when nothing is to be placed. `problem` is one
// sentence when what was asked for can't be done: then the program must not run, since the result
// would be taken for that of the placement. `note` is one sentence when the program may run, but
// something was left out.
std::string PlacementFileText(const RunArguments& arguments, const ProfileQueries& queries,
                              std::string& problem, std::string& note);

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_PLACEMENT_H_
