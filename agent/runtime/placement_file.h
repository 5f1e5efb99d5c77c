// Reads the file of placement rules that the option place= names, and puts them into force.
#ifndef MEMAGENT_AGENT_RUNTIME_PLACEMENT_FILE_H_
#define MEMAGENT_AGENT_RUNTIME_PLACEMENT_FILE_H_

#include <span>
#include <string_view>

#include "agent/base/placement_rule.h"

namespace memagent::runtime {

// Called for what could not be followed: the option or the line, and why as the end of a sentence.
using PlacementWarning = void (*)(void* context, std::string_view what, std::string_view reason);

// Where a sandbox would kill for placing, no rule is followed. Calling thread: the one that starts
// the session, which has the private heap.
void LoadPlacementFile(const char* path, PlacementWarning warn, void* context);

// Pure: the rules of a file's text, which they borrow from, into `rules`; how many.
size_t ParsePlacementRules(std::string_view text, std::span<base::PlacementRule> rules,
                           PlacementWarning warn, void* context);

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_PLACEMENT_FILE_H_
