// Which perf events to try, in which order, and why each other engine is not in use.
//
// Pure: from facts about the machine and the session's options to plans. Nothing is opened here;
// the caller tries the plans in order, of each the attempts of each ladder in order, takes the
// first that opens, and keeps every refusal with its errno (capture/engine_errors.h). Calling
// thread: the drain thread.
#ifndef MEMAGENT_AGENT_CAPTURE_EVENT_SELECTION_H_
#define MEMAGENT_AGENT_CAPTURE_EVENT_SELECTION_H_

#include <cstdint>
#include <string_view>

#include "agent/base/containers.h"
#include "agent/base/types.h"
#include "agent/capture/engine_facts.h"
#include "agent/capture/engine_plan.h"

namespace memagent::capture {

struct EventRequest {
  EngineKind engine = EngineKind::kNone;  // the wanted one; see automatic
  bool automatic = true;                  // engine=auto: every engine that this machine offers
  uint64_t rate_hz = 1000;                // samples of accesses, per thread and second of CPU time
  uint64_t period = 0;                    // in the engine's own unit; 0: from rate_hz
  uint64_t fault_period = 1;              // record every Nth page fault; at least 1
  uint64_t latency_cycles = 0;            // only accesses that took longer; 0: the engine's default
  bool l3_miss_only = false;  // only accesses that missed the L3, where hardware can tell
};

// Why an engine is not tried. `reason` and `remedy` are one sentence each.
struct EngineRefusal {
  EngineKind engine = EngineKind::kNone;
  std::string_view reason;
  std::string_view remedy;
};

struct EventSelection {
  base::Vector<EnginePlan> plans;  // in the order to try
  EventLadder minor_faults;        // first touch, beside every engine: open the first that works
  EventLadder major_faults;
  base::Vector<EngineRefusal> refusals;  // of every engine that has no plan
};

EventSelection SelectEvents(const EngineFacts& facts, const EventRequest& request);

// The plan to try after `tried` of the same selection, the first one after nullptr; nullptr when
// there is none left.
const EnginePlan* NextPlan(const EventSelection& selection, const EnginePlan* tried);

// The plan of one engine, nullptr when it has none.
const EnginePlan* FindPlan(const EventSelection& selection, EngineKind engine);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_EVENT_SELECTION_H_
