// Gathers what own_cost.h estimates from, and puts the estimate into the profile's terms. Calling
// thread: the drain thread (or the exiting one in its place).
#ifndef MEMAGENT_AGENT_RUNTIME_OWN_COST_READER_H_
#define MEMAGENT_AGENT_RUNTIME_OWN_COST_READER_H_

#include "agent/base/held_memory.h"
#include "agent/capture/page_trial.h"
#include "agent/capture/skid_calibration.h"
#include "agent/os/clock.h"
#include "agent/profile/model.h"
#include "agent/runtime/observation.h"
#include "agent/runtime/own_cost.h"
#include "agent/runtime/sample_pipeline.h"
#include "agent/runtime/session.h"

namespace memagent::runtime {

class OwnCostReader {
 public:
  OwnCostReader(const SessionControl& control, const os::TscClock& clock,
                const SamplePipeline& pipeline)
      : control_(control), clock_(clock), pipeline_(pipeline) {}

  // Tries out, once, what the machine takes for what can't be timed where it happens: 20 ms of CPU
  // time where the software engine samples, else 0.3 ms.
  void TryOnce(const EngineInUse& engine);
  const capture::SkidCalibration& skid() const { return skid_; }

  // Two system calls. Without the resident pages, which take many.
  OwnCostInputs Read() const;
  OwnCost Estimate() const { return EstimateOwnCost(Read()); }

 private:
  const SessionControl& control_;
  const os::TscClock& clock_;
  const SamplePipeline& pipeline_;
  capture::SkidCalibration skid_;
  capture::PageTrial pages_;
  bool tried_ = false;
};

// An estimate as the profile has it. `data` borrows from this object.
class OwnCostRecord {
 public:
  // Counts the resident pages.
  explicit OwnCostRecord(OwnCostInputs inputs);
  void AttachTo(profile::OwnCostData& data) const;

 private:
  OwnCost cost_;
  std::array<profile::CostPartData, kCostParts> parts_;
  size_t part_count_ = 0;  // of those that have a figure
  std::array<profile::HeldMemoryData, base::kMemoryUses> held_;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_OWN_COST_READER_H_
