#include "agent/runtime/sample_pipeline.h"

#include <algorithm>

// Bounds of our own code, from the linker: time spent in the hooks is not the program's.
extern "C" {
[[gnu::visibility("hidden")]] extern const char __ehdr_start[];
[[gnu::visibility("hidden")]] extern const char etext[];
}

namespace memagent::runtime {
namespace {

// A fault in free heap memory waits for its block: it is asked again when it is 1 ms old, and for
// the last time when it is 100 ms old.
constexpr Nanos kFirstRetryNanos = 1'000'000;
constexpr Nanos kLastRetryNanos = 100'000'000;
constexpr size_t kMaxDeferred = 65536;
// glibc writes the size of what is left 8 bytes before the next block will start.
constexpr uint64_t kHeaderBytes = 8;

UnattributedReason ReasonOf(const decode::AccessResolver::Result& result) {
  if (result.access.evidence == Evidence::kNone) return UnattributedReason::kNotMemory;
  switch (result.why) {
    case decode::Unresolved::kNoFunction:
    case decode::Unresolved::kUnreadableCode:
    case decode::Unresolved::kUndecodable:
      return UnattributedReason::kCodeUnreadable;
    case decode::Unresolved::kAmbiguousPredecessor:
      return UnattributedReason::kPredecessorAmbiguous;
    case decode::Unresolved::kNoDecoder:
      return UnattributedReason::kNoDecoder;
    default:
      return UnattributedReason::kAddressUnknown;
  }
}

// In free heap memory, or where the heap has grown since the maps were read.
bool MayGetABlock(const attribute::Attribution& attribution) {
  return attribution.in_unknown_heap() ||
         (!attribution.attributed() && attribution.reason == UnattributedReason::kUnknownRegion);
}

void TakeHardware(const PendingSample& pending, aggregate::ResolvedSample& sample) {
  const decode::HardwareAccess& hardware = *pending.hardware;
  sample.access = hardware.access;
  sample.attribution.reason = hardware.why;
  sample.fate = hardware.fate;
  sample.has_told = hardware.access.evidence != Evidence::kNone && !hardware.fate;
  sample.told = {hardware.source, hardware.page_bytes, hardware.latency_cycles,
                 hardware.instruction_cycles, hardware.tlb_refill_cycles};
  sample.data_src = pending.raw.data_src;
}

// An access through the null page is a base register that was not a pointer.
bool HasAddress(const decode::Access& access) {
  return access.evidence != Evidence::kNone && access.address >= 4096;
}

}  // namespace

bool SamplePipeline::IsAgentCode(uint64_t ip) const {
  return ip >= reinterpret_cast<uint64_t>(__ehdr_start) && ip < reinterpret_cast<uint64_t>(etext);
}

NodeId SamplePipeline::NodeOfCpu(uint32_t cpu) const {
  return topology_ == nullptr ? NodeId::kUnknown : topology_->NodeOfCpu(cpu);
}

void SamplePipeline::ResolveOne(const PendingSample& pending) {
  aggregate::Accounting& accounting = aggregator_.Thread(pending.thread).accounting;
  const auto drop = [&](DropReason reason) {
    pending.is_fault ? accounting.DropFaults(reason, 1)
                     : accounting.DropSamples(reason, static_cast<uint64_t>(pending.scale));
  };
  if (pending.raw.time < settled_) return drop(DropReason::kLate);
  if (IsAgentCode(pending.raw.ip)) return drop(DropReason::kAgentCode);
  aggregate::ResolvedSample sample;
  sample.thread = pending.thread;
  sample.time = pending.raw.time;
  sample.cpu = pending.raw.cpu;
  sample.cpu_node = NodeOfCpu(pending.raw.cpu);
  sample.scale = pending.scale;
  if (pending.is_fault) {
    sample.access = {Evidence::kExact, pending.raw.ip, pending.raw.address, 0, false, false};
    sample.page_bytes = pending.raw.page_bytes;
  } else if (pending.hardware) {
    TakeHardware(pending, sample);
  } else {
    const auto result = resolver_.Resolve(pending.raw, pending.fs_base);
    sample.access = result.access;
    sample.attribution.reason = ReasonOf(result);
  }
  if (HasAddress(sample.access)) {
    const attribute::Moment moment = {
        clock_.ToTicks(pending.raw.time),
        static_cast<uint64_t>(static_cast<double>(clock_.ErrorBoundNanos()) /
                              clock_.NanosPerTick())};
    sample.attribution = attributor_.Attribute(sample.access.address, moment);
  }
  resolved_.push_back(sample);
  is_fault_.push_back(pending.is_fault);
}

// On a one-node machine every page is on that node: nothing is asked. Of a pc-only sample only the
// object's base is known, not the page accessed: it has no node.
void SamplePipeline::AskNodes() {
  if (topology_ == nullptr) return;
  const bool one_node = topology_->nodes.size() == 1;
  base::Vector<uint64_t> pages;
  base::Vector<size_t> owners;
  for (size_t i = 0; i < resolved_.size(); ++i) {
    if (is_fault_[i] || !resolved_[i].attribution.attributed()) continue;
    if (one_node) {
      resolved_[i].memory_node = topology_->nodes[0].id;
      continue;
    }
    if (resolved_[i].access.evidence == Evidence::kPcOnly) continue;
    pages.push_back(resolved_[i].access.address & ~uint64_t{4095});
    owners.push_back(i);
  }
  if (pages.empty()) return;
  base::Vector<os::PageAnswer> answers(pages.size());
  page_nodes_.Lookup(pages, answers);
  for (size_t i = 0; i < owners.size(); ++i) {
    resolved_[owners[i]].memory_node = answers[i].node;
    resolved_[owners[i]].page_not_present = answers[i].state == os::PageState::kNotPresent;
  }
}

void SamplePipeline::RetryDeferredFaults() {
  const Nanos now = os::MonotonicNanos();
  const attribute::Moment moment = {clock_.ToTicks(now), 0};
  std::erase_if(deferred_, [&](DeferredFault& waiting) {
    if (now < waiting.next_try) return false;
    aggregate::ResolvedSample& fault = waiting.fault;
    fault.attribution = attributor_.Attribute(fault.access.address + kHeaderBytes, moment);
    const bool last = waiting.next_try >= fault.time + kLastRetryNanos;
    waiting.next_try = fault.time + kLastRetryNanos;
    if (!fault.attribution.attributed() && !last) return false;
    aggregator_.AddFault(fault);
    return true;
  });
}

void SamplePipeline::Process(base::Vector<PendingSample>& batch) {
  std::sort(batch.begin(), batch.end(),
            [](const PendingSample& a, const PendingSample& b) { return a.raw.time < b.raw.time; });
  for (const PendingSample& pending : batch) ++(pending.is_fault ? faults_taken_ : samples_taken_);
  RetryDeferredFaults();
  resolved_.clear();
  is_fault_.clear();
  for (const PendingSample& pending : batch) ResolveOne(pending);
  AskNodes();
  for (size_t i = 0; i < resolved_.size(); ++i) {
    if (!is_fault_[i]) {
      aggregator_.AddSample(resolved_[i]);
    } else if (MayGetABlock(resolved_[i].attribution) && deferred_.size() < kMaxDeferred) {
      deferred_.push_back({resolved_[i], resolved_[i].time + kFirstRetryNanos});
    } else {
      aggregator_.AddFault(resolved_[i]);
    }
  }
  batch.clear();
}

}  // namespace memagent::runtime
