// The advice of a profile as rules, for `memagent run --place-from PROFILE`.
#ifndef MEMAGENT_VIEWER_ADVICE_RULES_H_
#define MEMAGENT_VIEWER_ADVICE_RULES_H_

#include <string>
#include <vector>

namespace memagent::viewer {

// "S1@FILE=block", "S3@FILE=bind:1": of each site with advice that a rule can apply, the first
// such. Empty with `error` set, one sentence, when the profile can't be read; empty without it when
// there is no such advice.
std::vector<std::string> PlacementRules(const std::string& profile_path, std::string& error);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_ADVICE_RULES_H_
