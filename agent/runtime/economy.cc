#include "agent/runtime/economy.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "agent/capture/placement.h"
#include "agent/capture/recorder.h"
#include "agent/ledger/allocation_sampler.h"
#include "agent/ledger/shadow_map.h"

namespace memagent::runtime {
namespace {

void AppendNumber(base::String& text, uint64_t number) {
  char digits[24];
  text.append(digits, std::to_chars(digits, std::end(digits), number).ptr);
}

// "2.3 %"
void AppendPercent(base::String& text, double share) {
  const auto tenths = static_cast<uint64_t>(std::max(0.0, share) * 1000 + 0.5);
  AppendNumber(text, tenths / 10);
  text.push_back('.');
  AppendNumber(text, tenths % 10);
  text.append(" %");
}

Rates Asked(const base::Options& options) {
  return {static_cast<uint32_t>(std::max<uint64_t>(1, options.sample_bytes)), 1};
}

// A block that is left out by chance can't be placed (D34).
uint32_t MostSampleBytes() {
  return capture::IsPlacing() ? static_cast<uint32_t>(ledger::kLargeBlock)
                              : Budget::kMostSampleBytes;
}

// Hooks that the processor works on beside the program's own code take less than they seem to when
// timed: on a Zen 5 the estimate for a storm of allocations was above all CPU time that the process
// took (789 ms of 688). The program has had some of it.
constexpr double kLeastProgramShare = 0.2;

CostSoFar SoFar(const OwnCost& cost) {
  CostSoFar so_far;
  for (const CostPart part : {CostPart::kAllocations, CostPart::kFrees, CostPart::kNewStacks}) {
    so_far.tracking += cost.Of(part).total_nanos;
  }
  so_far.sampling = cost.Of(CostPart::kAccessSamples).total_nanos;
  so_far.drain = cost.Of(CostPart::kDrain).total_nanos;
  so_far.program = std::max(cost.process_cpu_nanos * kLeastProgramShare,
                            cost.process_cpu_nanos - cost.total_nanos);
  return so_far;
}

}  // namespace

Economy::Economy(const Settings& settings, Observation& observation,
                 const aggregate::Aggregator& aggregator, EventLog& log)
    : observation_(observation),
      aggregator_(aggregator),
      log_(log),
      budget_(settings.budget_share, Asked(settings.options), MostSampleBytes()) {}

void Economy::Judge(Nanos now, const OwnCost& cost) {
  const auto step = budget_.Judge(now, SoFar(cost));
  if (!step) return;
  capture::SetSampleBytes(step->rates.sample_bytes);
  observation_.SetPeriodFactor(step->rates.period_factor);
  largest_period_factor_ = std::max(largest_period_factor_, step->rates.period_factor);
  Say(*step);
}

void Economy::Say(const Budget::Step& step) {
  if (budget_.steps() > kMostEvents) return;
  base::String text("memagent cost ");
  AppendPercent(text, step.overhead);
  text.append(" of the program's CPU time (");
  AppendPercent(text, step.tracking);
  text.append(" in allocation hooks; estimated), budget ");
  AppendPercent(text, budget_.share());
  text.append(step.lower ? ": lowered rates to " : ": raised rates to ");
  if (step.rates.sample_bytes > 1) {
    text.append("blocks under ");
    AppendNumber(text, step.rates.sample_bytes);
    text.append(" bytes by chance, one in each so many bytes, and ");
  } else {
    text.append("every block, and ");
  }
  if (step.rates.period_factor > 1) {
    text.append("1 in ");
    AppendNumber(text, step.rates.period_factor);
    text.append(" access samples.");
  } else {
    text.append("all access samples.");
  }
  log_.Add(profile::Severity::kInfo, step.lower ? "budget_lowered" : "budget_raised", text);
}

profile::EconomyData Economy::Data() const {
  profile::EconomyData data;
  data.sample_bytes = budget_.rates().sample_bytes;
  data.largest_sample_bytes = ledger::largest_mean.load(std::memory_order_relaxed);
  data.budget_share = budget_.share();
  data.overhead_share = budget_.overhead();
  data.budget_steps = budget_.steps();
  data.period_factor = budget_.rates().period_factor;
  data.largest_period_factor = largest_period_factor_;
  data.samples_taken = aggregator_.samples_taken();
  data.sample_weight_squares = aggregator_.sample_weight_squares();
  return data;
}

}  // namespace memagent::runtime
