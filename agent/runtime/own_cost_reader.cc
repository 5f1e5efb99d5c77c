#include "agent/runtime/own_cost_reader.h"

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
  return inputs;
}

OwnCostRecord::OwnCostRecord(const OwnCost& cost) : cost_(cost) {
  for (size_t i = 0; i < kCostParts; ++i) {
    if (cost.parts[i].basis == CostBasis::kNone) continue;
    parts_[part_count_++] = PartOf(kCostPartNames[i], cost.parts[i]);
  }
  for (size_t i = 0; i < base::kMemoryUses; ++i) {
    const base::HeldBytes held = base::ReadHeld(base::MemoryUse{static_cast<uint8_t>(i)});
    held_[i] = {kMemoryUseNames[i], held.mapped, held.resident};
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
