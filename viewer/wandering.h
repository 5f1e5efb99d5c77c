// Memory that each thread has for itself, while the threads change their nodes: wherever its pages
// lie, a thread that runs on several nodes is away from them part of its time.
#ifndef MEMAGENT_VIEWER_WANDERING_H_
#define MEMAGENT_VIEWER_WANDERING_H_

#include <cstdint>

#include "viewer/view.h"

namespace memagent::viewer {

struct Wandering {
  // Located samples that would be remote with the pages of each thread on the node where it runs
  // most.
  uint64_t samples = 0;
  uint32_t thread = 0;  // with most of them
  uint32_t nodes = 0;   // that this one ran on, each for a twentieth of its samples or more
};

// Nothing for memory that threads share, and where too few pairs of samples tell.
Wandering WanderingOf(const SiteView& site);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_WANDERING_H_
