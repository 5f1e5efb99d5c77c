#include "viewer/import/booking.h"

namespace memagent::importer {
namespace {

constexpr std::string_view kKernel = "[kernel]";
constexpr std::string_view kGuest = "[virtual machine]";
constexpr std::string_view kNoAddress = "[no address recorded]";

attribute::Attribution On(uint32_t site) { return {static_cast<SiteId>(site), {}}; }

}  // namespace

// The aggregator keeps no single samples: it would keep the code of ours in place of addresses.
Booking::Booking(World& world, Modules& modules, const MachineNodes& nodes,
                 const LoggedBlocks& blocks, uint64_t kept_samples)
    : world_(world),
      nodes_(nodes),
      blocks_(blocks),
      places_(world, modules),
      aggregator_(0),
      kept_(kept_samples) {}

uint32_t Booking::SiteOfBlocks(uint32_t name) {
  return places_.SiteNamed(RegionKind::kHeap, blocks_.log().names[name]);
}

uint32_t Booking::SerialOf(const ImportedSample& sample) {
  if (sample.tid < 0) return 0;
  const uint32_t thread = world_.ThreadOf(sample.pid, sample.tid);
  const auto next = static_cast<uint32_t>(threads_.size()) + 1;
  const auto [known, fresh] = serials_.try_emplace(thread, next);
  if (fresh) threads_.push_back(thread);
  return known->second;
}

attribute::Attribution Booking::AttributionOf(const ImportedSample& sample) {
  const decode::HardwareAccess& hardware = sample.hardware;
  if (hardware.access.evidence == Evidence::kNone || hardware.fate) {
    return {SiteId::kUnknown, hardware.why};
  }
  if (sample.guest) return On(places_.SiteNamed(RegionKind::kUnknown, kGuest));
  if (hardware.access.evidence == Evidence::kExact) {
    const std::optional<uint32_t> block = blocks_.Find(sample.pid, hardware.access.address);
    return On(block ? SiteOfBlocks(*block) : places_.SiteAt(sample.pid, hardware.access.address));
  }
  const bool kernel = hardware.why == UnattributedReason::kKernelAddress;
  return On(places_.SiteNamed(RegionKind::kUnknown, kernel ? kKernel : kNoAddress));
}

aggregate::ResolvedSample Booking::Resolve(const ImportedSample& sample) {
  aggregate::ResolvedSample resolved;
  resolved.thread = SerialOf(sample);
  resolved.time = sample.time;
  resolved.cpu = sample.cpu;  // kNoCpu reaches the profile as it is
  resolved.cpu_node = nodes_.OfCpu(sample.cpu);
  resolved.access = sample.hardware.access;
  if (resolved.access.ip != 0) {
    const CodePlace place = sample.guest ? CodePlace{0, resolved.access.ip}
                                         : places_.CodeAt(sample.pid, resolved.access.ip);
    resolved.access.ip = aggregate::kNamedCode | places_.FrameOf(place);
  }
  resolved.attribution = AttributionOf(sample);
  resolved.memory_node = nodes_.OfPhysical(sample.physical_address);
  const decode::HardwareAccess& hardware = sample.hardware;
  resolved.fate = hardware.fate;
  resolved.has_told = hardware.access.evidence != Evidence::kNone && !hardware.fate;
  resolved.told = {hardware.source, hardware.page_bytes, hardware.latency_cycles,
                   hardware.instruction_cycles, hardware.tlb_refill_cycles};
  resolved.data_src = sample.data_source;
  return resolved;
}

void Booking::BookSample(const ImportedSample& sample) {
  const aggregate::ResolvedSample resolved = Resolve(sample);
  aggregator_.AddSample(resolved);
  kept_.Offer({sample.time, sample.hardware.access.ip, sample.hardware.access.address,
               resolved.thread, resolved.cpu, static_cast<uint32_t>(resolved.attribution.site),
               resolved.access.evidence, resolved.memory_node, sample.hardware.latency_cycles,
               sample.data_source});
  if (sample.time != UINT64_MAX) {
    if (first_time_ == 0) first_time_ = sample.time;
    last_time_ = sample.time;
  }
  fates_ += sample.hardware.fate.has_value();
  if (!resolved.attribution.attributed()) return;
  ++accesses_;
  without_cpu_ += sample.cpu == kNoCpu;
}

void Booking::BookFault(const ImportedSample& fault, double pages) {
  aggregate::ResolvedSample resolved = Resolve(fault);
  resolved.scale = pages;
  aggregator_.AddFault(resolved);
  if (first_time_ == 0) first_time_ = fault.time;
  last_time_ = fault.time;
}

void Booking::Drop(DropReason reason, uint64_t count) {
  if (count != 0) aggregator_.Thread(0).accounting.DropSamples(reason, count);
}

}  // namespace memagent::importer
