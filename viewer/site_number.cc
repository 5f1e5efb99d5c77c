#include "viewer/site_number.h"

#include "viewer/query.h"

namespace memagent::viewer {

uint32_t SiteNumber(const profile::Profile& profile, std::string_view name) {
  const View view = BuildView(profile, {.lines = false});
  for (const SiteView& site : view.sites) {
    if (site.id == name) return site.profile_id;
  }
  return 0;
}

}  // namespace memagent::viewer
