// The advice of a profile as rules, for `memagent run --place-from PROFILE`.
#ifndef MEMAGENT_VIEWER_ADVICE_RULES_H_
#define MEMAGENT_VIEWER_ADVICE_RULES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "viewer/view.h"

namespace memagent::viewer {

struct AdvisedRules {
  std::vector<std::string> rules;  // "S1@FILE=block", "S3@FILE=bind:1"
  size_t left_out = 0;             // of sites that gain least
};

// Of each site with advice that a rule can apply that which leaves least remote in the worst case;
// of at most `most` sites.
AdvisedRules RulesOf(const View& view, const std::string& profile_path, size_t most);

// The same of a file, as inject::ProfileQueries has it. Empty with `error` set, one sentence, when
// the profile can't be read; empty without it when there is no such advice.
std::vector<std::string> PlacementRules(const std::string& profile_path, size_t most,
                                        size_t& left_out, std::string& error);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_ADVICE_RULES_H_
