// Gathers what own_cost.h estimates from. Calling thread: the drain thread (or the exiting one in
// its place).
#ifndef MEMAGENT_AGENT_RUNTIME_OWN_COST_READER_H_
#define MEMAGENT_AGENT_RUNTIME_OWN_COST_READER_H_

#include "agent/os/clock.h"
#include "agent/runtime/own_cost.h"
#include "agent/runtime/sample_pipeline.h"
#include "agent/runtime/session.h"

namespace memagent::runtime {

class OwnCostReader {
 public:
  OwnCostReader(const SessionControl& control, const os::TscClock& clock,
                const SamplePipeline& pipeline)
      : control_(control), clock_(clock), pipeline_(pipeline) {}

  // Three system calls.
  OwnCostInputs Read() const;
  OwnCost Estimate() const { return EstimateOwnCost(Read()); }

 private:
  const SessionControl& control_;
  const os::TscClock& clock_;
  const SamplePipeline& pipeline_;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_OWN_COST_READER_H_
