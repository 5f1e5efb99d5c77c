#include "agent/runtime/own_cost_reader.h"

#include <utility>

namespace memagent::runtime {
namespace {

constexpr std::array<std::string_view, base::kMemoryUses> kMemoryUseNames = {
    "arena", "index", "stacks", "sites", "threads", "drain"};

uint64_t Rounded(double value) { return value > 0 ? static_cast<uint64_t>(value + 0.5) : 0; }

profile::CostPartData PartOf(const CostPartName& name, const CostFigure& figure) {
  profile::CostPartData part;
  part.what = name.what;
  part.inside = name.inside;
  part.basis = figure.basis;
  part.count = figure.count;
  part.samples = figure.samples;
  part.mean_picos = Rounded(figure.mean_nanos * 1000);
  part.total_nanos = Rounded(figure.total_nanos);
  part.error_nanos = Rounded(figure.error_nanos);
  return part;
}

}  // namespace

void OwnCostReader::TryOnce(const EngineInUse& engine) {
  if (std::exchange(tried_, true)) return;
  const auto attr_of = [](const capture::EventAttempt* attempt) {
    return attempt == nullptr ? nullptr : &attempt->attr;
  };
  if (engine.plan != nullptr && engine.plan->engine == EngineKind::kSoftware) {
    skid_ = capture::CalibrateSkid(attr_of(engine.access));
  }
  pages_ = capture::TryPages(attr_of(engine.minor_faults), clock_.NanosPerTick());
}

OwnCostInputs OwnCostReader::Read() const {
  OwnCostInputs inputs;
  inputs.meters = ledger::ReadCostMeters();
  inputs.nanos_per_tick = clock_.NanosPerTick();
  inputs.process_cpu_nanos = os::ProcessCpuNanos();
  inputs.drain_cpu_nanos = os::ThreadCpuNanos();
  inputs.start_cpu_nanos = control_.start_cpu_nanos.load(std::memory_order_relaxed);
  inputs.access_samples = pipeline_.samples_taken();
  inputs.fault_records = pipeline_.faults_taken();
  inputs.sample_nanos = skid_.tick_nanos;
  inputs.fault_record_nanos = pages_.record_nanos;
  inputs.unmap_nanos = pages_.unmap_nanos;
  return inputs;
}

OwnCostRecord::OwnCostRecord(OwnCostInputs inputs) {
  for (size_t i = 0; i < base::kMemoryUses; ++i) {
    const base::HeldBytes held = base::ReadHeld(base::MemoryUse{static_cast<uint8_t>(i)});
    held_[i] = {kMemoryUseNames[i], held.mapped, held.resident};
    inputs.resident_pages += held.resident / 4096;
  }
  cost_ = EstimateOwnCost(inputs);
  for (size_t i = 0; i < kCostParts; ++i) {
    if (cost_.parts[i].basis == CostBasis::kNone) continue;
    parts_[part_count_++] = PartOf(kCostPartNames[i], cost_.parts[i]);
  }
}

void OwnCostRecord::AttachTo(profile::OwnCostData& data) const {
  data.process_cpu_nanos = Rounded(cost_.process_cpu_nanos);
  data.drain_cpu_nanos = Rounded(cost_.Of(CostPart::kDrain).total_nanos);
  data.estimated_nanos = Rounded(cost_.total_nanos);
  data.estimated_error_nanos = Rounded(cost_.error_nanos);
  data.parts = std::span(parts_.data(), part_count_);
  data.held = held_;
}

}  // namespace memagent::runtime
