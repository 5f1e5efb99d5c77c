// What a profile says of where memory and threads were put: part of model.h.
#ifndef MEMAGENT_AGENT_PROFILE_MODEL_PLACEMENT_H_
#define MEMAGENT_AGENT_PROFILE_MODEL_PLACEMENT_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "agent/aggregate/sharing.h"
#include "agent/base/bit_mask.h"
#include "agent/base/types.h"

namespace memagent::profile {

struct StripData {
  uint32_t position = 0;
  NodeId cpu_node = NodeId::kUnknown;
  NodeId memory_node = NodeId::kUnknown;
  uint64_t samples = 0;
};

struct SharingData {
  uint64_t unit_bytes = 0;  // 0: a whole block
  aggregate::SharingCounts counts;
};

struct PolicyData {
  std::string_view mode;
  base::BitMask nodes;
  bool of_thread = false;
  uint64_t pages = 0;
};

struct PlacementCallData {
  Nanos time = 0;
  uint32_t thread = 0;
  std::string_view call;
  uint32_t frame = 0;
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  uint32_t site = 0;
  std::string_view mode;
  base::BitMask nodes;
  int32_t target_tid = 0;
  uint64_t calls = 0;
  uint64_t refused = 0;
  int32_t refused_errno = 0;
};

struct NodeCountersData {
  uint32_t node = 0;
  uint64_t least_free_bytes = 0;
  uint64_t hit = 0;
  uint64_t miss = 0;
  uint64_t foreign = 0;
  uint64_t interleave_hit = 0;
};

// Of a checkpoint.
struct PlacementData {
  std::span<const PlacementCallData> calls;
  uint64_t calls_left_out = 0;
  std::span<const NodeCountersData> nodes;
  uint64_t numa_pages_migrated = 0;
  uint64_t numa_hint_faults = 0;
};

}  // namespace memagent::profile

#endif  // MEMAGENT_AGENT_PROFILE_MODEL_PLACEMENT_H_
