#include "viewer/advice_rules.h"

#include <utility>

#include "agent/profile/reader.h"
#include "viewer/advice.h"
#include "viewer/advice_text.h"
#include "viewer/query.h"

namespace memagent::viewer {

std::vector<std::string> PlacementRules(const std::string& profile_path, std::string& error) {
  profile::LoadResult loaded = profile::LoadProfile(profile_path);
  if (!loaded.profile) {
    error = loaded.problem;
    return {};
  }
  error.clear();
  const View view = BuildView(std::move(*loaded.profile), {.lines = false});
  std::vector<std::string> rules;
  for (const SiteView& site : view.sites) {
    for (const Advice& advice : Diagnose(view, site).advice) {
      if (advice.rule.empty()) continue;
      rules.push_back(RuleOf(site, advice, profile_path));
      break;
    }
  }
  return rules;
}

}  // namespace memagent::viewer
