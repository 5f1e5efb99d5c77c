// Field numbers of what profile.proto says of where memory and threads were put: part of fields.h.
#ifndef MEMAGENT_AGENT_PROFILE_FIELDS_PLACEMENT_H_
#define MEMAGENT_AGENT_PROFILE_FIELDS_PLACEMENT_H_

#include <cstdint>

namespace memagent::profile::field {

struct PlacementCall {
  enum : uint32_t {
    kTime = 1,
    kThread,
    kCall,
    kFrame,
    kAddress,
    kSizeBytes,
    kSite,
    kMode,
    kNode,
    kTargetTid,
    kCalls,
    kRefused,
    kRefusedErrno,
  };
};
struct NodeCounters {
  enum : uint32_t { kNode = 1, kLeastFreeBytes, kHit, kMiss, kForeign, kInterleaveHit };
};
struct Sharing {
  enum : uint32_t { kUnitBytes = 1, kPairs, kSameThread, kSameNode, kOtherNodeWritten };
};
struct PolicyCount {
  enum : uint32_t { kMode = 1, kNode, kOfThread, kPages };
};

}  // namespace memagent::profile::field

#endif  // MEMAGENT_AGENT_PROFILE_FIELDS_PLACEMENT_H_
