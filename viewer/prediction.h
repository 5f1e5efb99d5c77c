// Which share of a site's accesses would be remote if its pages lay elsewhere: pages by node after
// the placement x use by node as sampled. docs/ADVICE.md has the formulas.
//
// Intervals are 95 %, from the number of samples. They hold if the program goes on using the memory
// as it did; that threads follow the memory, or run faster and so differently, is not in them.
#ifndef MEMAGENT_VIEWER_PREDICTION_H_
#define MEMAGENT_VIEWER_PREDICTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "viewer/site_use.h"
#include "viewer/view.h"

namespace memagent::viewer {

struct Prediction {
  double remote = 0;  // share of the located samples
  Interval interval;
  double distance = 0;  // mean, as the kernel counts them; 0: not known
};

// As it is.
Prediction AsItIs(const View& view, const SiteView& site);

// How far a remote access goes then, against how far one goes now: kernel's distances above that
// within a node. 1 where distances are not known.
double RelativeDistance(const Prediction& now, const Prediction& after);

// Whether it is surely better than now: fewer accesses are remote, the intervals are apart; or the
// mean distance is clearly less, and remote accesses counted by their distance surely so, while not
// surely more of them are.
bool IsBetter(const Prediction& now, const Prediction& after);

// All pages on one node: remote is what other nodes use. `use` is that of the site, here and below.
Prediction BoundTo(const View& view, const SiteView& site, const SiteUse& use, int32_t node);

// Pages in turn on each of `nodes`: of each node's use, one in so many stays local.
Prediction InterleavedOver(const View& view, const SiteView& site, const SiteUse& use,
                           const std::vector<int32_t>& nodes);

// Each block in as many equal parts as there are nodes named, in this order.
Prediction BlockedOver(const View& view, const SiteView& site, const Strip& strip,
                       const std::vector<int32_t>& nodes);

// The fewest equal parts that are within 2 points of the best that 64 can do, with the node that
// uses each most.
std::vector<int32_t> BestParts(const Strip& strip);

// Each unit (page or block) on the node that uses it most, from pairs of samples: when a share d of
// the pairs comes from two nodes, at least (1 - sqrt(1 - 2 d)) / 2 of the accesses are remote then,
// and at most d.
Prediction UnitsByUser(const Mixing& mixing);

// So many of its remote samples are local then.
Prediction Without(const SiteView& site, uint64_t samples);

// The node to bind it to: with CPUs, with room for it, and least far from its users. -1: none.
int32_t BestNode(const View& view, const SiteView& site, const SiteUse& use);

// What that can save at most, as a share: of the sampled latency where the site has latencies (each
// access that is local then takes as long as the local ones do now), else of the memory samples
// (each takes no time at all then). Remote accesses that go less far then save in proportion.
struct Gain {
  double share = 0;
  Interval interval;
  bool of_latency = false;
};
Gain GainOf(const View& view, const SiteView& site, const Prediction& now, const Prediction& after);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_PREDICTION_H_
