#include "agent/runtime/own_cost.h"

#include <algorithm>

namespace memagent::runtime {
namespace {

using ledger::CostKind;
using ledger::CostSums;

// Until trials have shown what this machine takes (skid_calibration.h, page_trial.h).
constexpr double kAssumedSampleNanos = 1500;
constexpr double kAssumedFaultRecordNanos = 700;
constexpr double kAssumedUnmapNanos = 200;

constexpr double k95 = 1.96;  // standard deviations

// Without libm, which the agent does not link.
double SquareRoot(double value) {
  double root = value < 1 ? 1 : value;
  for (int i = 0; i < 60 && root * root > value * (1 + 1e-9); ++i) root = (root + value / root) / 2;
  return value <= 0 ? 0 : root;
}

double Ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

double MeanTicks(const CostSums& sums) {
  return Ratio(static_cast<double>(sums.weighted_ticks), static_cast<double>(sums.weight));
}

// Variance of the mean of the timed ones.
double VarianceOfMean(const CostSums& sums) {
  if (sums.samples < 2) return 0;
  const auto n = static_cast<double>(sums.samples);
  const double mean = static_cast<double>(sums.ticks) / n;
  return std::max(0.0, static_cast<double>(sums.squared_ticks) / n - mean * mean) / (n - 1);
}

CostFigure Counted(uint64_t nanos, uint64_t count = 1) {
  CostFigure figure;
  if (nanos == 0) return figure;
  figure.basis = CostBasis::kCounted;
  figure.count = count;
  figure.total_nanos = static_cast<double>(nanos);
  figure.mean_nanos = Ratio(figure.total_nanos, static_cast<double>(count));
  return figure;
}

CostFigure Tried(uint64_t count, double tried_nanos, double assumed_nanos) {
  CostFigure figure;
  if (count == 0) return figure;
  figure.basis = tried_nanos > 0 ? CostBasis::kTried : CostBasis::kAssumed;
  figure.count = count;
  figure.mean_nanos = tried_nanos > 0 ? tried_nanos : assumed_nanos;
  figure.total_nanos = static_cast<double>(count) * figure.mean_nanos;
  return figure;
}

CostFigure Inferred(uint64_t count, double mean_nanos) {
  CostFigure figure;
  if (count == 0 || mean_nanos <= 0) return figure;
  figure.basis = CostBasis::kInferred;
  figure.count = count;
  figure.mean_nanos = mean_nanos;
  figure.total_nanos = static_cast<double>(count) * mean_nanos;
  return figure;
}

// A walk that waits for memory does so because the program has pushed out what it reads; then it
// has pushed out what the program reads, which is taken to cost the program as much. Half of that
// is the doubt.
CostFigure RefillsFrom(const CostFigure& new_stacks, const CostSums& walk, const CostSums& again) {
  constexpr uint64_t kFewest = 16;
  if (walk.samples < kFewest || again.samples < kFewest) return {};
  const double waiting = 1 - Ratio(MeanTicks(again), MeanTicks(walk));
  CostFigure figure = Inferred(new_stacks.count, new_stacks.mean_nanos * waiting);
  figure.samples = again.samples;
  figure.error_nanos = figure.total_nanos / 2;
  return figure;
}

}  // namespace

const std::array<CostPartName, kCostParts> kCostPartNames = {{
    {"allocation", ""},
    {"free", ""},
    {"new_stack", ""},
    {"cache_refill", ""},
    {"thread_start", ""},
    {"access_sample", ""},
    {"fault_record", ""},
    {"start", ""},
    {"page", ""},
    {"drain", ""},
    {"stack_look_up", "allocation"},
    {"checkpoint", "drain"},
}};

CostFigure FigureOf(const CostSums& sums, const CostSums& read, double nanos_per_tick) {
  CostFigure figure;
  if (sums.samples == 0) return figure;
  const auto count = static_cast<double>(sums.occurrences);
  figure.basis = CostBasis::kSampled;
  figure.count = sums.occurrences;
  figure.samples = sums.samples;
  figure.mean_nanos = std::max(0.0, MeanTicks(sums) - MeanTicks(read)) * nanos_per_tick;
  figure.total_nanos = count * figure.mean_nanos;
  figure.error_nanos = k95 * count * nanos_per_tick *
                       SquareRoot(VarianceOfMean(sums) + VarianceOfMean(read));
  return figure;
}

double OwnCost::Share() const {
  return Ratio(total_nanos, std::max(0.0, process_cpu_nanos - total_nanos));
}

OwnCost EstimateOwnCost(const OwnCostInputs& inputs) {
  OwnCost cost;
  const auto sums = [&](CostKind kind) { return inputs.meters[static_cast<size_t>(kind)]; };
  const auto set = [&](CostPart part, const CostFigure& figure) {
    cost.parts[static_cast<size_t>(part)] = figure;
  };
  const auto hook = [&](CostPart part, CostKind kind) {
    set(part, FigureOf(sums(kind), sums(CostKind::kClockRead), inputs.nanos_per_tick));
  };
  hook(CostPart::kAllocations, CostKind::kAllocation);
  hook(CostPart::kFrees, CostKind::kFree);
  hook(CostPart::kNewStacks, CostKind::kNewStack);
  CostSums look_up = sums(CostKind::kAllocationToTime);
  look_up.occurrences = sums(CostKind::kAllocation).occurrences;  // each makes one
  set(CostPart::kStackLookUps,
      FigureOf(look_up, sums(CostKind::kFreeToTime), inputs.nanos_per_tick));
  set(CostPart::kCacheRefills, RefillsFrom(cost.Of(CostPart::kNewStacks), sums(CostKind::kWalk),
                                           sums(CostKind::kWalkAgain)));
  set(CostPart::kThreadStarts, FigureOf(sums(CostKind::kThreadStart), {}, 1));
  set(CostPart::kAccessSamples,
      Tried(inputs.access_samples, inputs.sample_nanos, kAssumedSampleNanos));
  set(CostPart::kFaultRecords,
      Tried(inputs.fault_records, inputs.fault_record_nanos, kAssumedFaultRecordNanos));
  set(CostPart::kStart, Counted(inputs.start_cpu_nanos));
  set(CostPart::kPages, Tried(inputs.resident_pages, inputs.unmap_nanos, kAssumedUnmapNanos));
  set(CostPart::kDrain, Counted(inputs.drain_cpu_nanos));
  set(CostPart::kCheckpoints, Counted(inputs.checkpoint_nanos, inputs.checkpoints));
  double squares = 0;
  for (size_t i = 0; i < kCostParts; ++i) {
    if (!kCostPartNames[i].inside.empty()) continue;
    cost.total_nanos += cost.parts[i].total_nanos;
    squares += cost.parts[i].error_nanos * cost.parts[i].error_nanos;
  }
  cost.error_nanos = SquareRoot(squares);
  cost.process_cpu_nanos = static_cast<double>(inputs.process_cpu_nanos);
  return cost;
}

}  // namespace memagent::runtime
