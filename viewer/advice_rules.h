// What memagent advises for a profile, as `memagent run --place` takes it.
#ifndef MEMAGENT_VIEWER_ADVICE_RULES_H_
#define MEMAGENT_VIEWER_ADVICE_RULES_H_

#include <string>
#include <vector>

namespace memagent::viewer {

// "S1@PATH=interleave:0+1", ...: one for each site whose blocks should lie elsewhere. Empty: nothing that
// can be applied is advised, or `error` says in one sentence why it can't be told.
std::vector<std::string> PlacementRules(const std::string& profile_path, std::string& error);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_ADVICE_RULES_H_
