#include "agent/capture/event_selection.h"

#include <algorithm>
#include <utility>

#include "agent/capture/engine_selections.h"

namespace memagent::capture {
namespace {

struct Engine {
  EngineKind kind;
  bool (*plan)(const EngineFacts&, const EventRequest&, EnginePlan&, EngineRefusal&);
};

// What names the memory exactly before what infers it.
constexpr Engine kEngines[] = {
    {EngineKind::kIbs, PlanIbs},           {EngineKind::kPebs, PlanPebs},
    {EngineKind::kSpe, PlanSpe},           {EngineKind::kProfileMe, PlanProfileMe},
    {EngineKind::kSoftware, PlanSoftware},
};

constexpr std::string_view kNotWanted = "Another engine was asked for with engine=.";
constexpr std::string_view kUseAuto = "Use engine=auto, or name this engine.";

// That a machine is no Alpha is only news to who asked for its engine.
bool IsNews(EngineKind missing, const EventRequest& request) {
  return missing != EngineKind::kProfileMe || request.engine == EngineKind::kProfileMe;
}

}  // namespace

EventSelection SelectEvents(const EngineFacts& facts, const EventRequest& request) {
  EventSelection selection;
  for (const Engine& engine : kEngines) {
    EnginePlan plan;
    EngineRefusal refusal;
    if (!engine.plan(facts, request, plan, refusal)) {
      if (IsNews(engine.kind, request)) selection.refusals.push_back(refusal);
    } else if (request.automatic || request.engine == engine.kind) {
      selection.plans.push_back(std::move(plan));
    } else {
      selection.refusals.push_back({engine.kind, kNotWanted, kUseAuto});
    }
  }
  const uint64_t fault_period = std::max<uint64_t>(request.fault_period, 1);
  selection.minor_faults = MinorFaultLadder(fault_period);
  selection.major_faults = MajorFaultLadder(fault_period);
  return selection;
}

const EnginePlan* NextPlan(const EventSelection& selection, const EnginePlan* tried) {
  const auto& plans = selection.plans;
  const size_t next = tried == nullptr ? 0 : static_cast<size_t>(tried - plans.data()) + 1;
  return next < plans.size() ? &plans[next] : nullptr;
}

const EnginePlan* FindPlan(const EventSelection& selection, EngineKind engine) {
  for (const EnginePlan& plan : selection.plans) {
    if (plan.engine == engine) return &plan;
  }
  return nullptr;
}

}  // namespace memagent::capture
