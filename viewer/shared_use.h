// Memory that several nodes use, and when one node's memory serves too much of it.
#ifndef MEMAGENT_VIEWER_SHARED_USE_H_
#define MEMAGENT_VIEWER_SHARED_USE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "viewer/site_use.h"
#include "viewer/view.h"

namespace memagent::viewer {

// A node that uses less of a site is none of its users, and gets none of its pages.
inline constexpr double kUserShare = 0.05;

// The nodes with CPUs and memory that make so much of this use.
std::vector<int32_t> UsersOf(const View& view, const NodeSamples& by_node);

// What each of so many nodes serves when pages are spread evenly over them.
double EvenShare(size_t users);

// Pages are concentrated when one node serves more than this: 1.5 times its even share, or nearly
// everything.
double ConcentratedShare(size_t users);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_SHARED_USE_H_
