// A piece of advice as `memagent run --place` takes it.
#ifndef MEMAGENT_VIEWER_ADVICE_PLACEMENT_H_
#define MEMAGENT_VIEWER_ADVICE_PLACEMENT_H_

#include <string>

#include "viewer/advice.h"
#include "viewer/view.h"

namespace memagent::viewer {

// "bind:1", "block:0+1+0+1", "interleave", "nohuge"; "" when no rule does what is advised, or none
// can do it to memory of this site.
std::string PlacementOf(const View& view, const SiteView& site, const Advice& advice);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_ADVICE_PLACEMENT_H_
