// What a sampled address belongs to. Plain data.
#ifndef MEMAGENT_AGENT_ATTRIBUTE_ATTRIBUTION_H_
#define MEMAGENT_AGENT_ATTRIBUTE_ATTRIBUTION_H_

#include <cstdint>

#include "agent/base/reasons.h"
#include "agent/base/types.h"

namespace memagent::attribute {

struct Attribution {
  SiteId site = SiteId::kUnknown;
  UnattributedReason reason = UnattributedReason::kUnknownRegion;  // when there is no site
  // The block, variable or mapping that held the address then; size 0: not known, as of stacks.
  uint64_t start = 0;
  uint64_t size_bytes = 0;

  bool attributed() const { return site != SiteId::kUnknown; }
  // In heap memory, as far as the maps tell, and of no block that is known.
  bool in_unknown_heap() const {
    return !attributed() && (reason == UnattributedReason::kUnallocated ||
                             reason == UnattributedReason::kUnpickedBlock);
  }
};

}  // namespace memagent::attribute

#endif  // MEMAGENT_AGENT_ATTRIBUTE_ATTRIBUTION_H_
