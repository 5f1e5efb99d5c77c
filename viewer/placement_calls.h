// What the program and the kernel did to where a site's memory lies: policies, calls that place or
// move, nodes that were full.
#ifndef MEMAGENT_VIEWER_PLACEMENT_CALLS_H_
#define MEMAGENT_VIEWER_PLACEMENT_CALLS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "viewer/site_use.h"
#include "viewer/view.h"

namespace memagent::viewer {

// Shares of a site's pages, 0 to 1, by the policy that they were under when first seen.
struct PolicyShare {
  double forced = 0;       // a policy names their nodes
  double forced_here = 0;  // and puts them on the node that was asked about
};
PolicyShare PolicyShareOf(const SiteView& site, int32_t home);
// The policy that names `home` for most pages; nullptr when none does.
const memagent::v1::PolicyCount* PolicyFor(const SiteView& site, int32_t home);

// Calls of one of these names that the kernel did not all refuse, and that are about this site or
// about no memory that is known.
std::vector<const memagent::v1::PlacementCall*> CallsFor(
    const View& view, const SiteView& site, const std::vector<std::string_view>& names);

// Calls that move pages which are there already.
std::vector<const memagent::v1::PlacementCall*> MovingCalls(const View& view, const SiteView& site);
// Calls that say where this thread runs, by itself or by another one.
std::vector<const memagent::v1::PlacementCall*> AffinityCalls(const View& view, uint32_t thread);

// Whether so many pages that were wanted on other nodes were given on `home`, on this machine.
bool WasGivenElsewhere(const View& view, int32_t home, double pages);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_PLACEMENT_CALLS_H_
