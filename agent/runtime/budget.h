// Keeps what the agent costs near a share of the program's CPU time, by lowering rates.
//
// Pure: cumulated costs go in, the rates to use from now on come out. Each interval the cost since
// the last one is compared with the budget. Over it, the rate whose part is larger is lowered;
// under a quarter of it for kCalmIntervals in a row, the rate that was lowered last is raised
// again. A raise that has to be taken back doubles the calm that the next one needs, so that rates
// swing ever less.
//
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_BUDGET_H_
#define MEMAGENT_AGENT_RUNTIME_BUDGET_H_

#include <cstdint>
#include <optional>

#include "agent/base/types.h"

namespace memagent::runtime {

// Since the start, in nanoseconds of CPU time.
struct CostSoFar {
  double tracking = 0;  // in the hooks: allocations, frees, call stacks
  double sampling = 0;  // interrupts of the access event
  double drain = 0;     // of the drain thread, for both
  double program = 0;   // of the program itself
};

struct Rates {
  uint32_t sample_bytes = 1;   // see capture::SetSampleBytes
  uint32_t period_factor = 1;  // of the access event's nominal period
  bool operator==(const Rates&) const = default;
};

class Budget {
 public:
  // The coarsest rates: a program in a storm of large blocks can't be helped by going on.
  static constexpr uint32_t kMostSampleBytes = 1u << 19;
  static constexpr uint32_t kMostPeriodFactor = 16;
  static constexpr uint32_t kFirstSampleBytes = 128;
  static constexpr Nanos kIntervalNanos = 100'000'000;
  // An interval in which the program hardly ran says nothing.
  static constexpr double kLeastProgramNanos = 10e6;
  static constexpr int kCalmIntervals = 20;
  static constexpr int kMostCalmIntervals = 64 * kCalmIntervals;

  struct Step {
    Rates rates;
    bool lower = false;
    double overhead = 0;  // of the interval, as a share of the program's CPU time
    double tracking = 0;  // the hooks' part of it
  };

  // `finest`: what the options ask for; never finer. `share` 0: no budget, no step ever.
  Budget(double share, const Rates& finest, uint32_t most_sample_bytes = kMostSampleBytes)
      : share_(share), most_sample_bytes_(most_sample_bytes), finest_(finest), rates_(finest) {}

  // What to change, or nothing. Cheap when called more often than every interval.
  std::optional<Step> Judge(Nanos now, const CostSoFar& cost);
  bool DueAt(Nanos now) const { return share_ > 0 && now >= next_; }

  double share() const { return share_; }
  const Rates& rates() const { return rates_; }
  // Over all intervals.
  double overhead() const;
  uint32_t steps() const { return steps_; }

 private:
  bool Lower(bool tracking);
  bool Raise();

  double share_;
  uint32_t most_sample_bytes_;
  Rates finest_;
  Rates rates_;
  Nanos next_ = 0;
  std::optional<CostSoFar> last_;
  CostSoFar first_;
  int calm_ = 0;
  int calm_needed_ = kCalmIntervals;
  int since_raise_ = kCalmIntervals;  // intervals
  bool tracking_lowered_last_ = false;
  uint32_t steps_ = 0;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_BUDGET_H_
