// The machine's NUMA nodes, as the profile's header has them. Node numbers may have gaps.
#ifndef MEMAGENT_VIEWER_NODES_H_
#define MEMAGENT_VIEWER_NODES_H_

#include <cstdint>
#include <optional>

#include "viewer/view.h"

namespace memagent::viewer {

MachineNodes NodesOf(const memagent::v1::Machine& machine);

// False for a node of memory only (CXL, HBM, persistent memory) and for one that is not known: no
// thread can be moved there. True for all where the profile tells nothing of CPUs.
bool HasCpus(const View& view, int32_t node);

// False for a node that has only CPUs (of a Threadripper, of a virtual machine) and for one that is
// not known: no page can lie there, and `memagent run` refuses a rule that names it. True for all
// where the profile does not tell how much memory any of them has.
bool HasMemory(const View& view, int32_t node);
// How much it has; 0: none, or not told.
uint64_t MemoryBytes(const View& view, int32_t node);

// The kernel's distance, 10 within a node; nullopt where the profile does not tell it.
std::optional<uint32_t> NodeDistance(const View& view, int32_t from, int32_t to);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_NODES_H_
