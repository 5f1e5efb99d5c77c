#include "viewer/advice_rules.h"

namespace memagent::viewer {

std::vector<std::string> PlacementRules(const std::string& profile_path, std::string& error) {
  error = "--place-from '" + profile_path + "': this memagent gives no advice yet.";
  return {};
}

}  // namespace memagent::viewer
