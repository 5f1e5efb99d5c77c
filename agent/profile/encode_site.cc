// What was counted of one site.
#include <algorithm>

#include "agent/profile/encode.h"
#include "agent/profile/encode_fields.h"
#include "agent/profile/encode_nodes.h"
#include "agent/profile/fields.h"

namespace memagent::profile {
namespace {

int32_t NodeNumber(NodeId node) { return static_cast<int32_t>(node); }

void EncodeFirstTouch(MessageWriter& out, const FirstTouchData& touch) {
  using F = field::FirstTouch;
  PutUint(out, F::kThread, touch.thread);
  PutSint(out, F::kCpuNode, NodeNumber(touch.cpu_node));
  PutUint(out, F::kFrame, touch.frame);
  PutUint(out, F::kPages, touch.pages);
  PutUint(out, F::kFaults, touch.faults);
  PutFixed(out, F::kPositions, touch.positions);
}

// Nothing where no record has a latency: the engine can't tell, or did not.
template <typename Record>
void PutLatencyColumns(MessageWriter& out, uint32_t samples_field, uint32_t cycles_field,
                       std::span<const Record> records) {
  const auto has_latency = [](const Record& r) { return r.latency.samples != 0; };
  if (std::none_of(records.begin(), records.end(), has_latency)) return;
  PutUintColumn(out, samples_field, records, [](const Record& r) { return r.latency.samples; });
  PutUintColumn(out, cycles_field, records, [](const Record& r) { return r.latency.cycles; });
}

void EncodeCells(MessageWriter& out, std::span<const CellData> cells) {
  using F = field::SiteTotal;
  PutUintColumn(out, F::kCellThread, cells, [](const CellData& c) { return c.thread; });
  PutSintColumn(out, F::kCellCpuNode, cells,
                [](const CellData& c) { return NodeNumber(c.cpu_node); });
  PutSintColumn(out, F::kCellMemoryNode, cells,
                [](const CellData& c) { return NodeNumber(c.memory_node); });
  PutUintColumn(out, F::kCellSamples, cells, [](const CellData& c) { return c.samples; });
  PutLatencyColumns(out, F::kCellLatencySamples, F::kCellLatencyCycles, cells);
  const auto has_stores = [](const CellData& c) { return c.stores != 0; };
  if (std::any_of(cells.begin(), cells.end(), has_stores)) {
    PutUintColumn(out, F::kCellStores, cells, [](const CellData& c) { return c.stores; });
  }
  const auto has_positions = [](const CellData& c) { return c.positions != 0; };
  if (std::any_of(cells.begin(), cells.end(), has_positions)) {
    PutFixedColumn(out, F::kCellPositions, cells, [](const CellData& c) { return c.positions; });
  }
}

void EncodeStrips(MessageWriter& out, std::span<const StripData> strips) {
  using F = field::SiteTotal;
  PutUintColumn(out, F::kStripPosition, strips, [](const StripData& s) { return s.position; });
  PutSintColumn(out, F::kStripCpuNode, strips,
                [](const StripData& s) { return NodeNumber(s.cpu_node); });
  PutSintColumn(out, F::kStripMemoryNode, strips,
                [](const StripData& s) { return NodeNumber(s.memory_node); });
  PutUintColumn(out, F::kStripSamples, strips, [](const StripData& s) { return s.samples; });
}

void EncodeSharing(MessageWriter& out, const SharingData& sharing) {
  using F = field::Sharing;
  PutUint(out, F::kUnitBytes, sharing.unit_bytes);
  PutUint(out, F::kPairs, sharing.counts.pairs);
  PutUint(out, F::kSameThread, sharing.counts.same_thread);
  PutUint(out, F::kSameNode, sharing.counts.same_node);
  PutUint(out, F::kOtherNodeWritten, sharing.counts.other_node_written);
}

void EncodePolicy(MessageWriter& out, const PolicyData& policy) {
  using F = field::PolicyCount;
  PutText(out, F::kMode, policy.mode);
  PutNodes(out, F::kNode, policy.nodes);
  PutBool(out, F::kOfThread, policy.of_thread);
  PutUint(out, F::kPages, policy.pages);
}

void EncodeCode(MessageWriter& out, std::span<const CodeData> code) {
  using F = field::SiteTotal;
  PutUintColumn(out, F::kCodeFrame, code, [](const CodeData& c) { return c.frame; });
  PutUintColumn(out, F::kCodeSamples, code, [](const CodeData& c) { return c.samples; });
  PutUintColumn(out, F::kCodeRemoteSamples, code,
                [](const CodeData& c) { return c.remote_samples; });
  PutLatencyColumns(out, F::kCodeLatencySamples, F::kCodeLatencyCycles, code);
}

void EncodeKind(MessageWriter& out, const AccessKindData& kind) {
  using F = field::AccessKind;
  const DataSource& source = kind.source;
  PutUint(out, F::kOp, static_cast<uint64_t>(source.op));
  PutUint(out, F::kLevel, static_cast<uint64_t>(source.level));
  PutUint(out, F::kLocality, static_cast<uint64_t>(source.locality));
  PutUint(out, F::kSnoop, static_cast<uint64_t>(source.snoop));
  PutUint(out, F::kTlb, static_cast<uint64_t>(source.tlb));
  PutBool(out, F::kLocked, source.locked);
  PutBool(out, F::kBlockedData, source.blocked_data);
  PutBool(out, F::kBlockedAddress, source.blocked_address);
  PutUint(out, F::kRegion, source.region);
  PutUint(out, F::kPage, static_cast<uint64_t>(kind.page));
  PutUint(out, F::kSamples, kind.samples);
  PutUint(out, F::kLatencySamples, kind.latency.samples);
  PutUint(out, F::kLatencyCycles, kind.latency.cycles);
  PutUint(out, F::kPageBytes, kind.page_bytes);
  PutUint(out, F::kInstructionSamples, kind.instruction.samples);
  PutUint(out, F::kInstructionCycles, kind.instruction.cycles);
  PutUint(out, F::kTlbRefillSamples, kind.tlb_refill.samples);
  PutUint(out, F::kTlbRefillCycles, kind.tlb_refill.cycles);
}

void EncodeKinds(MessageWriter& out, const SiteTotalData& total) {
  using F = field::SiteTotal;
  for (const AccessKindData& kind : total.kinds) {
    MessageWriter message(out, F::kKind);
    EncodeKind(message, kind);
  }
  PutUintColumn(out, F::kLatencyFloor, total.latency,
                [](const LatencyData& l) { return l.floor_cycles; });
  PutUintColumn(out, F::kLatencySamples, total.latency,
                [](const LatencyData& l) { return l.samples; });
}

void EncodeSampled(MessageWriter& out, const SampledData& sampled) {
  using F = field::SampledCounts;
  PutUint(out, F::kPickedAllocations, sampled.picked_allocations);
  PutUint(out, F::kPickedFrees, sampled.picked_frees);
  PutDouble(out, F::kAllocationsVariance, sampled.allocations_variance);
  PutDouble(out, F::kFreesVariance, sampled.frees_variance);
  PutDouble(out, F::kBytesAllocatedVariance, sampled.bytes_allocated_variance);
  PutDouble(out, F::kBytesFreedVariance, sampled.bytes_freed_variance);
  PutDouble(out, F::kBytesPeakVariance, sampled.bytes_peak_variance);
  PutDouble(out, F::kBlocksLiveVariance, sampled.blocks_live_variance);
  PutDouble(out, F::kBytesLiveVariance, sampled.bytes_live_variance);
}

void EncodePages(MessageWriter& out, const SiteTotalData& total) {
  using F = field::SiteTotal;
  PutSintColumn(out, F::kPageNode, total.pages,
                [](const PagesData& p) { return NodeNumber(p.node); });
  PutUintColumn(out, F::kPageCount, total.pages, [](const PagesData& p) { return p.count; });
  PutUint(out, F::kPagesNotPresent, total.pages_not_present);
  PutUint(out, F::kPagesMoved, total.pages_moved);
  PutUint(out, F::kHugePages, total.huge_pages);
  PutUint(out, F::kHugePagesAsked, total.huge_pages_asked);
  PutUint(out, F::kTouchedPagesTold, total.touched_pages_told);
  PutUint(out, F::kTouchedPagesHuge, total.touched_pages_huge);
  for (const PolicyData& policy : total.policies) {
    MessageWriter message(out, F::kPolicy);
    EncodePolicy(message, policy);
  }
}

}  // namespace

void EncodeSiteTotal(MessageWriter& out, const SiteTotalData& total) {
  using F = field::SiteTotal;
  PutUint(out, F::kSite, total.site);
  PutUint(out, F::kAllocations, total.allocations);
  PutUint(out, F::kFrees, total.frees);
  PutUint(out, F::kBytesAllocated, total.bytes_allocated);
  PutUint(out, F::kBytesFreed, total.bytes_freed);
  PutUint(out, F::kBytesPeak, total.bytes_peak);
  PutUint(out, F::kSamples, total.samples);
  PutUint(out, F::kEvidenceExact, total.evidence_exact);
  PutUint(out, F::kEvidenceApproximate, total.evidence_approximate);
  PutUint(out, F::kEvidencePcOnly, total.evidence_pc_only);
  EncodeCells(out, total.cells);
  EncodeCode(out, total.code);
  for (const FirstTouchData& touch : total.first_touch) {
    MessageWriter message(out, F::kFirstTouch);
    EncodeFirstTouch(message, touch);
  }
  EncodePages(out, total);
  PutUint(out, F::kInheritedBlocks, total.inherited_blocks);
  PutUint(out, F::kInheritedBytes, total.inherited_bytes);
  EncodeKinds(out, total);
  EncodeStrips(out, total.strips);
  PutUint(out, F::kStripSamplesLeftOut, total.strip_samples_left_out);
  for (const SharingData& sharing : total.sharing) {
    MessageWriter message(out, F::kSharing);
    EncodeSharing(message, sharing);
  }
  if (!total.sampled.any()) return;
  MessageWriter sampled(out, F::kSampled);
  EncodeSampled(sampled, total.sampled);
}

}  // namespace memagent::profile
