// What a checkpoint says of placement calls and of nodes.
#include "agent/profile/encode.h"
#include "agent/profile/encode_fields.h"
#include "agent/profile/encode_nodes.h"
#include "agent/profile/fields.h"

namespace memagent::profile {
namespace {

void EncodeCall(MessageWriter& out, const PlacementCallData& call) {
  using F = field::PlacementCall;
  PutFixed(out, F::kTime, call.time);
  PutUint(out, F::kThread, call.thread);
  PutText(out, F::kCall, call.call);
  PutUint(out, F::kFrame, call.frame);
  PutUint(out, F::kAddress, call.address);
  PutUint(out, F::kSizeBytes, call.size_bytes);
  PutUint(out, F::kSite, call.site);
  PutText(out, F::kMode, call.mode);
  PutNodes(out, F::kNode, call.nodes);
  PutInt(out, F::kTargetTid, call.target_tid);
  PutUint(out, F::kCalls, call.calls);
  PutUint(out, F::kRefused, call.refused);
  PutSint(out, F::kRefusedErrno, call.refused_errno);
}

void EncodeNode(MessageWriter& out, const NodeCountersData& node) {
  using F = field::NodeCounters;
  out.add_uint32(F::kNode, node.node);  // also when 0, see EncodeModule
  PutUint(out, F::kLeastFreeBytes, node.least_free_bytes);
  PutUint(out, F::kHit, node.hit);
  PutUint(out, F::kMiss, node.miss);
  PutUint(out, F::kForeign, node.foreign);
  PutUint(out, F::kInterleaveHit, node.interleave_hit);
}

}  // namespace

void EncodePlacement(MessageWriter& out, const PlacementData& placement) {
  using F = field::Totals;
  for (const PlacementCallData& call : placement.calls) {
    MessageWriter message(out, F::kPlacementCall);
    EncodeCall(message, call);
  }
  PutUint(out, F::kPlacementCallsLeftOut, placement.calls_left_out);
  for (const NodeCountersData& node : placement.nodes) {
    MessageWriter message(out, F::kNode);
    EncodeNode(message, node);
  }
  PutUint(out, F::kNumaPagesMigrated, placement.numa_pages_migrated);
  PutUint(out, F::kNumaHintFaults, placement.numa_hint_faults);
}

}  // namespace memagent::profile
