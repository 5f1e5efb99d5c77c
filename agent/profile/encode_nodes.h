// A set of node numbers as a repeated uint32.
#ifndef MEMAGENT_AGENT_PROFILE_ENCODE_NODES_H_
#define MEMAGENT_AGENT_PROFILE_ENCODE_NODES_H_

#include "agent/base/bit_mask.h"
#include "agent/profile/encode_fields.h"

namespace memagent::profile {

// Nothing for no node.
inline void PutNodes(MessageWriter& out, uint32_t field, const base::BitMask& nodes) {
  base::Vector<uint32_t> numbers;
  nodes.ForEach([&](uint32_t node) { numbers.push_back(node); });
  PutUintColumn(out, field, std::span<const uint32_t>(numbers), [](uint32_t n) { return n; });
}

}  // namespace memagent::profile

#endif  // MEMAGENT_AGENT_PROFILE_ENCODE_NODES_H_
