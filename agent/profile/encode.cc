#include "agent/profile/encode.h"

#include <algorithm>
#include <array>

#include "agent/profile/encode_fields.h"
#include "agent/profile/fields.h"

namespace memagent::profile {
namespace {

template <size_t kSize>
void PutReasons(MessageWriter& out, uint32_t field, const std::array<uint64_t, kSize>& counts,
                const std::array<ReasonInfo, kSize>& reasons) {
  for (size_t i = 0; i < kSize; ++i) {
    if (counts[i] == 0) continue;
    MessageWriter reason(out, field);
    PutText(reason, field::ReasonCount::kReason, reasons[i].name);
    PutUint(reason, field::ReasonCount::kCount, counts[i]);
  }
}

}  // namespace

void EncodeModule(MessageWriter& out, const ModuleData& module, uint32_t path_id) {
  using F = field::Module;
  out.add_uint32(F::kPath, path_id);  // also when 0: an empty message would vanish and shift ids
  PutText(out, F::kBuildId, module.build_id);
  PutFixed(out, F::kStart, module.start);
  PutFixed(out, F::kEnd, module.end);
  PutFixed(out, F::kLoadBias, module.load_bias);
  PutFixed(out, F::kLoaded, module.loaded);
  PutFixed(out, F::kUnloaded, module.unloaded);
}

void EncodeThread(MessageWriter& out, const ThreadData& thread, uint32_t name_id) {
  using F = field::Thread;
  out.add_int32(F::kTid, thread.tid);  // also when 0, see EncodeModule
  PutUint(out, F::kName, name_id);
  PutFixed(out, F::kStarted, thread.started);
  PutBool(out, F::kMain, thread.main);
}

void EncodeFrames(MessageWriter& out, uint32_t first, std::span<const FrameData> frames) {
  using F = field::CallStacks;
  PutUint(out, F::kFirstFrame, first);
  PutUintColumn(out, F::kFrameModule, frames, [](const FrameData& f) { return f.module; });
  PutUintColumn(out, F::kFrameAddress, frames, [](const FrameData& f) { return f.address; });
  PutUintColumn(out, F::kFrameIsInstruction, frames,
                [](const FrameData& f) { return uint64_t{f.is_instruction}; });
}

void EncodeStacks(MessageWriter& out, uint32_t first, std::span<const StackData> stacks) {
  using F = field::CallStacks;
  PutUint(out, F::kFirstStack, first);
  PutUintColumn(out, F::kStackParent, stacks, [](const StackData& s) { return s.parent; });
  PutUintColumn(out, F::kStackFrame, stacks, [](const StackData& s) { return s.frame; });
}

void EncodeSite(MessageWriter& out, const SiteData& site, uint32_t name_id) {
  using F = field::Site;
  out.add_uint32(F::kId, site.id);
  PutUint(out, F::kKind, static_cast<uint32_t>(site.kind));
  PutUint(out, F::kStack, site.stack);
  PutUint(out, F::kName, name_id);
  PutUint(out, F::kModule, site.module);
  PutUint(out, F::kAddress, site.address);
  PutUint(out, F::kSizeBytes, site.size_bytes);
  PutBool(out, F::kStackCut, site.stack_cut);
}

void EncodeAccounting(MessageWriter& out, const AccountingData& accounting) {
  using F = field::Accounting;
  const auto evidence = [&](Evidence e) { return accounting.evidence[static_cast<size_t>(e)]; };
  PutUint(out, F::kSamplesSeen, accounting.samples_seen);
  PutUint(out, F::kAttributed, accounting.attributed);
  PutReasons(out, F::kUnattributed, accounting.unattributed, kUnattributedReasons);
  PutReasons(out, F::kDropped, accounting.dropped, kDropReasons);
  PutUint(out, F::kEvidenceExact, evidence(Evidence::kExact));
  PutUint(out, F::kEvidenceApproximate, evidence(Evidence::kApproximate));
  PutUint(out, F::kEvidencePcOnly, evidence(Evidence::kPcOnly));
  PutUint(out, F::kEvidenceNone, evidence(Evidence::kNone));
  PutUint(out, F::kFaultsSeen, accounting.faults_seen);
  PutUint(out, F::kFaultsAttributed, accounting.faults_attributed);
  PutReasons(out, F::kFaultsUnattributed, accounting.faults_unattributed, kUnattributedReasons);
  PutReasons(out, F::kFaultsDropped, accounting.faults_dropped, kDropReasons);
  PutReasons(out, F::kUntracked, accounting.untracked, kUntrackedReasons);
}

void EncodeThreadTotal(MessageWriter& out, const ThreadTotalData& total, uint32_t name_id) {
  using F = field::ThreadTotal;
  PutUint(out, F::kThread, total.thread);
  {
    MessageWriter accounting(out, F::kAccounting);
    EncodeAccounting(accounting, total.accounting);
  }
  PutUint(out, F::kTimeEnabledNanos, total.time_enabled_nanos);
  PutUint(out, F::kTimeRunningNanos, total.time_running_nanos);
  PutUint(out, F::kThrottled, total.throttled);
  PutUintColumn(out, F::kSamplesByNode, total.samples_by_node, [](uint64_t n) { return n; });
  PutFixed(out, F::kEnded, total.ended);
  PutUint(out, F::kName, name_id);
  PutUint(out, F::kUnobservedNanos, total.unobserved_nanos);
  PutText(out, F::kNotSampled, total.not_sampled);
  PutUint(out, F::kNodeChanges, total.node_changes);
}

void EncodeCodeFate(MessageWriter& out, const CodeFateData& fate) {
  using F = field::CodeFate;
  const aggregate::FateCounts& counts = fate.counts;
  PutUint(out, F::kFrame, fate.frame);
  PutUint(out, F::kSamples, counts.samples);
  PutUint(out, F::kRetired, counts.retired);
  PutUint(out, F::kKilledBeforeMap, counts.killed_before_map);
  PutUint(out, F::kKilledAfterMap, counts.killed_after_map);
  std::array<uint64_t, aggregate::kTrapKinds> kinds = {};
  std::array<uint64_t, aggregate::kTrapKinds> trapped = {};
  size_t used = 0;
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    if (counts.trapped[kind] == 0) continue;
    kinds[used] = kind;
    trapped[used++] = counts.trapped[kind];
  }
  const auto same = [](uint64_t value) { return value; };
  PutUintColumn(out, F::kTrap, std::span<const uint64_t>(kinds).first(used), same);
  PutUintColumn(out, F::kTrapped, std::span<const uint64_t>(trapped).first(used), same);
  PutUint(out, F::kIcacheMisses, counts.icache_misses);
  PutUint(out, F::kStalled, counts.stalled);
  PutUint(out, F::kInWindow, counts.in_window);
}

void EncodeEventTotal(MessageWriter& out, const EventTotalData& event) {
  using F = field::EventTotal;
  PutText(out, F::kEvent, event.event);
  PutText(out, F::kExactAttr, event.exact_attr);
  PutText(out, F::kLoss, event.loss);
  PutUint(out, F::kThreads, event.threads);
  PutUint(out, F::kEnabledNanos, event.enabled_nanos);
  PutUint(out, F::kRunningNanos, event.running_nanos);
  PutUint(out, F::kOccurrences, event.occurrences);
  PutUint(out, F::kSamples, event.samples);
  PutUint(out, F::kLost, event.lost);
  PutUint(out, F::kThrottled, event.throttled);
}

void EncodeEconomy(MessageWriter& out, const EconomyData& economy) {
  using F = field::Economy;
  PutUint(out, F::kSampleBytes, economy.sample_bytes);
  PutUint(out, F::kLargestSampleBytes, economy.largest_sample_bytes);
  PutDouble(out, F::kBudgetShare, economy.budget_share);
  PutDouble(out, F::kOverheadShare, economy.overhead_share);
  PutUint(out, F::kBudgetSteps, economy.budget_steps);
  PutUint(out, F::kPeriodFactor, economy.period_factor);
  PutUint(out, F::kLargestPeriodFactor, economy.largest_period_factor);
  PutUint(out, F::kSamplesTaken, economy.samples_taken);
  PutUint(out, F::kSampleWeightSquares, economy.sample_weight_squares);
}

void EncodeCostPart(MessageWriter& out, const CostPartData& part) {
  using F = field::CostPart;
  PutText(out, F::kWhat, part.what);
  PutText(out, F::kInside, part.inside);
  PutUint(out, F::kBasis, static_cast<uint64_t>(part.basis));
  PutUint(out, F::kCount, part.count);
  PutUint(out, F::kSamples, part.samples);
  PutUint(out, F::kMeanPicos, part.mean_picos);
  PutUint(out, F::kTotalNanos, part.total_nanos);
  PutUint(out, F::kErrorNanos, part.error_nanos);
}

void EncodeHeldMemory(MessageWriter& out, const HeldMemoryData& held) {
  using F = field::HeldMemory;
  PutText(out, F::kWhat, held.what);
  PutUint(out, F::kMappedBytes, held.mapped_bytes);
  PutUint(out, F::kResidentBytes, held.resident_bytes);
}

void EncodeOwnCost(MessageWriter& out, const OwnCostData& cost) {
  using F = field::OwnCost;
  PutUint(out, F::kDrainCpuNanos, cost.drain_cpu_nanos);
  PutUint(out, F::kBytesMapped, cost.bytes_mapped);
  PutUint(out, F::kAllocationsTracked, cost.allocations_tracked);
  PutUint(out, F::kLiveBlocks, cost.live_blocks);
  PutUint(out, F::kStacks, cost.stacks);
  PutUint(out, F::kStackCacheHits, cost.stack_cache_hits);
  PutUint(out, F::kStackCacheMisses, cost.stack_cache_misses);
  PutUint(out, F::kCheckpoints, cost.checkpoints);
  PutUint(out, F::kCheckpointNanos, cost.checkpoint_nanos);
  PutText(out, F::kPageNodeRung, cost.page_node_rung);
  PutUint(out, F::kClockErrorNanos, cost.clock_error_nanos);
  PutUint(out, F::kProfileBytes, cost.profile_bytes);
  PutUint(out, F::kProfileRewrites, cost.profile_rewrites);
  PutUint(out, F::kProcessCpuNanos, cost.process_cpu_nanos);
  PutUint(out, F::kEstimatedNanos, cost.estimated_nanos);
  PutUint(out, F::kEstimatedErrorNanos, cost.estimated_error_nanos);
  for (const CostPartData& part : cost.parts) {
    MessageWriter message(out, F::kPart);
    EncodeCostPart(message, part);
  }
  for (const HeldMemoryData& held : cost.held) {
    MessageWriter message(out, F::kHeld);
    EncodeHeldMemory(message, held);
  }
}

void EncodeRawSamples(MessageWriter& out, std::span<const RawSampleData> samples, bool continued) {
  using F = field::RawSamples;
  using Sample = RawSampleData;
  PutUintColumn(out, F::kTime, samples, [](const Sample& s) { return s.time; });
  PutUintColumn(out, F::kIp, samples, [](const Sample& s) { return s.ip; });
  PutUintColumn(out, F::kAddress, samples, [](const Sample& s) { return s.address; });
  PutUintColumn(out, F::kThread, samples, [](const Sample& s) { return s.thread; });
  PutUintColumn(out, F::kCpu, samples, [](const Sample& s) { return s.cpu; });
  PutUintColumn(out, F::kSite, samples, [](const Sample& s) { return s.site; });
  PutUintColumn(out, F::kEvidence, samples,
                [](const Sample& s) { return static_cast<uint64_t>(s.evidence); });
  PutSintColumn(out, F::kMemoryNode, samples,
                [](const Sample& s) { return static_cast<int32_t>(s.memory_node); });
  PutBool(out, F::kContinued, continued);
  const auto has_source = [](const Sample& s) { return s.data_src != 0 || s.latency_cycles != 0; };
  if (std::none_of(samples.begin(), samples.end(), has_source)) return;
  PutUintColumn(out, F::kLatency, samples, [](const Sample& s) { return s.latency_cycles; });
  PutUintColumn(out, F::kDataSrc, samples, [](const Sample& s) { return s.data_src; });
}

void EncodeEvent(MessageWriter& out, const EventData& event) {
  using F = field::Event;
  PutFixed(out, F::kTime, event.time);
  PutUint(out, F::kSeverity, static_cast<uint32_t>(event.severity));
  PutText(out, F::kCode, event.code);
  PutText(out, F::kText, event.text);
}

void EncodeSymbols(MessageWriter& out, std::span<const SymbolData> symbols,
                   std::span<const uint32_t> function_ids) {
  using F = field::Symbols;
  PutUintColumn(out, F::kFrame, symbols, [](const SymbolData& s) { return s.frame; });
  PutUintColumn(out, F::kFunction, function_ids, [](uint32_t id) { return id; });
  PutUintColumn(out, F::kFunctionOffset, symbols, [](const SymbolData& s) { return s.offset; });
}

void EncodeFooter(MessageWriter& out, const FooterData& footer, uint32_t chunks) {
  using F = field::Footer;
  PutFixed(out, F::kEnded, footer.ended);
  PutText(out, F::kHow, footer.how);
  PutUint(out, F::kChunks, chunks);
}

}  // namespace memagent::profile
