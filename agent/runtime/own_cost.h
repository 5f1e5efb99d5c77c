// What the agent has cost the program so far, in CPU time, by part. Arithmetic only: what was
// measured goes in (own_cost_reader.h), an estimate with its interval comes out. Cheap enough for
// every tick of the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_OWN_COST_H_
#define MEMAGENT_AGENT_RUNTIME_OWN_COST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/ledger/cost_meter.h"
#include "agent/profile/model.h"

namespace memagent::runtime {

struct OwnCostInputs {
  ledger::AllCostSums meters = {};
  double nanos_per_tick = 0;  // of the time-stamp counter
  uint64_t process_cpu_nanos = 0;  // of all threads, the drain thread included
  uint64_t drain_cpu_nanos = 0;
  uint64_t checkpoints = 0;  // the one being written included
  uint64_t checkpoint_nanos = 0;
  uint64_t start_cpu_nanos = 0;  // of the constructor, in the main thread
  uint64_t access_samples = 0;   // taken by the kernel in the program's threads
  uint64_t fault_records = 0;    // the same of page faults
  double sample_nanos = 0;       // the kernel's for one; 0: not measured
  double fault_record_nanos = 0;
  uint64_t resident_pages = 0;  // that the process's end will give back
  double unmap_nanos = 0;       // of one page
};

enum class CostPart : uint8_t {
  kAllocations,   // in the hooks, without new stacks
  kFrees,
  kNewStacks,
  kCacheRefills,  // what new stacks push out of the program's caches
  kThreadStarts,
  kAccessSamples,
  kFaultRecords,
  kStart,
  kPages,  // given back at the end
  kDrain,
  kStackLookUps,  // inside kAllocations
  kCheckpoints,   // inside kDrain
  kCount,
};
inline constexpr size_t kCostParts = static_cast<size_t>(CostPart::kCount);

using profile::CostBasis;

struct CostFigure {
  CostBasis basis = CostBasis::kNone;  // none: did not happen
  uint64_t count = 0;       // how often
  uint64_t samples = 0;     // of these were timed
  double mean_nanos = 0;    // of one
  double total_nanos = 0;
  double error_nanos = 0;   // half width of the total's 95 % interval, from the sampling alone
};

struct OwnCost {
  std::array<CostFigure, kCostParts> parts;
  double total_nanos = 0;  // of the parts inside no other
  double error_nanos = 0;
  double process_cpu_nanos = 0;

  const CostFigure& Of(CostPart part) const { return parts[static_cast<size_t>(part)]; }
  // Added to each nanosecond of the program's own CPU time: 0.05 is what paired runs show as x1.05.
  double Share() const;
};

// What a part is called in the profile.
struct CostPartName {
  std::string_view what;
  std::string_view inside;
};
extern const std::array<CostPartName, kCostParts> kCostPartNames;

OwnCost EstimateOwnCost(const OwnCostInputs& inputs);

// Of one meter; `read` is the meter of what timing itself took.
CostFigure FigureOf(const ledger::CostSums& sums, const ledger::CostSums& read, double nanos_per_tick);

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_OWN_COST_H_
