// What opening events came to. Plain data.
#ifndef MEMAGENT_AGENT_RUNTIME_OPEN_OUTCOME_H_
#define MEMAGENT_AGENT_RUNTIME_OPEN_OUTCOME_H_

#include <cstddef>
#include <cstdint>

#include "agent/base/containers.h"
#include "agent/capture/engine_errors.h"
#include "agent/capture/engine_plan.h"

namespace memagent::runtime {

// Which attempt of each of a plan's ladders to begin with.
using Rungs = base::Vector<size_t>;

struct OpenOutcome {
  const capture::EventAttempt* access = nullptr;  // the first that opened; nullptr: none
  const capture::EventAttempt* minor = nullptr;
  // Events that did not open beside others that did: the best attempt of each, and its last errno.
  struct Missing {
    const capture::EventAttempt* attempt;
    int error;
  };
  base::Vector<Missing> missing;
  Rungs rungs;    // of the plan's ladders, that opened; the ladder's size where none did
  int error = 0;  // positive errno of what failed for the access events, 0 when one is open
  capture::EngineStep failed_step = capture::EngineStep::kOpen;
  const capture::EventAttempt* failed = nullptr;  // what `error` is of, where it is known
  uint64_t ring_pages = 0;

  void Fail(capture::EngineStep step, long result) {
    error = static_cast<int>(-result);
    failed_step = step;
  }
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_OPEN_OUTCOME_H_
