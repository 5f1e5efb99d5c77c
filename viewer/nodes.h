// The machine's NUMA nodes, as the profile's header has them. Node numbers may have gaps.
#ifndef MEMAGENT_VIEWER_NODES_H_
#define MEMAGENT_VIEWER_NODES_H_

#include <cstdint>
#include <optional>

#include "viewer/view.h"

namespace memagent::viewer {

// False for a node of memory only (CXL, HBM, persistent memory) and for one that is not known: no
// thread can be moved there. True for all where the profile tells nothing of CPUs.
bool HasCpus(const View& view, int32_t node);

// The kernel's distance, 10 within a node; nullopt where the profile does not tell it.
std::optional<uint32_t> NodeDistance(const View& view, int32_t from, int32_t to);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_NODES_H_
