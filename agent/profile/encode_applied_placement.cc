// What placement rules did.
#include "agent/profile/encode.h"
#include "agent/profile/encode_fields.h"
#include "agent/profile/fields.h"

namespace memagent::profile {

void EncodeAppliedPlacement(MessageWriter& out, const AppliedPlacementData& placement) {
  using F = field::AppliedPlacement;
  PutText(out, F::kRule, placement.rule);
  PutText(out, F::kSites, placement.sites);
  PutUint(out, F::kBlocks, placement.blocks);
  PutUint(out, F::kBytes, placement.bytes);
  PutUint(out, F::kTooSmallBlocks, placement.too_small_blocks);
  PutUint(out, F::kRefusedCalls, placement.refused_calls);
  PutSint(out, F::kRefusedErrno, placement.refused_errno);
  PutUintColumn(out, F::kSite, placement.site_ids, [](uint32_t site) { return site; });
  PutUint(out, F::kOverLimitBlocks, placement.over_limit_blocks);
  PutUint(out, F::kMovedBlocks, placement.moved_blocks);
  PutUint(out, F::kFreedBlocks, placement.freed_blocks);
  PutUint(out, F::kSitesMatched, placement.sites_matched);
  PutUint(out, F::kUncutMappings, placement.uncut_mappings);
  PutUint(out, F::kOverruledCalls, placement.overruled_calls);
}

}  // namespace memagent::profile
