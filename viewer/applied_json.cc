#include "viewer/applied_json.h"

#include <utility>

#include "agent/profile/reader_placement.h"

namespace memagent::viewer {

// Sites by their numbers in the file, as "profile_site" of the sites.
Json PlacementsJson(const View& view) {
  Json placements = Json::array();
  for (const auto& placement : view.profile.applied_placements) {
    Json sites = Json::array();
    for (const uint32_t site : placement.site()) sites.push_back(site);
    placements.push_back({{"rule", placement.rule()},
                          {"meaning", placement.sites()},
                          {"applied", profile::WasApplied(placement)},
                          {"blocks", placement.blocks()},
                          {"bytes", placement.bytes()},
                          {"moved_blocks", placement.moved_blocks()},
                          {"freed_blocks", placement.freed_blocks()},
                          {"too_small_blocks", placement.too_small_blocks()},
                          {"over_limit_blocks", placement.over_limit_blocks()},
                          {"uncut_mappings", placement.uncut_mappings()},
                          {"overruled_calls", placement.overruled_calls()},
                          {"refused_calls", placement.refused_calls()},
                          {"refused_errno", placement.refused_errno()},
                          {"sites_matched", placement.sites_matched()},
                          {"profile_sites", std::move(sites)}});
  }
  return placements;
}

}  // namespace memagent::viewer
