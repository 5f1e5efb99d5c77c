// The rates of this session: what the options ask for, and what a budget makes of it.
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_ECONOMY_H_
#define MEMAGENT_AGENT_RUNTIME_ECONOMY_H_

#include <cstdint>

#include "agent/aggregate/aggregator.h"
#include "agent/profile/model.h"
#include "agent/runtime/budget.h"
#include "agent/runtime/event_log.h"
#include "agent/runtime/observation.h"
#include "agent/runtime/own_cost.h"
#include "agent/runtime/settings.h"

namespace memagent::runtime {

class Economy {
 public:
  Economy(const Settings& settings, Observation& observation,
          const aggregate::Aggregator& aggregator, EventLog& log);

  // Changes rates when the budget says so; `costs` is asked only when it is time to judge.
  template <typename Costs>
  void Adjust(Nanos now, const Costs& costs) {
    if (budget_.DueAt(now)) Judge(now, costs.Estimate());
  }

  profile::EconomyData Data() const;

 private:
  // What is said of the first steps; later ones are only counted.
  static constexpr uint32_t kMostEvents = 60;

  void Judge(Nanos now, const OwnCost& cost);
  void Say(const Budget::Step& step);

  Observation& observation_;
  const aggregate::Aggregator& aggregator_;
  EventLog& log_;
  Budget budget_;
  uint32_t largest_period_factor_ = 1;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_ECONOMY_H_
