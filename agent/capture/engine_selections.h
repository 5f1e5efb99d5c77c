// The plan of each engine, or why it has none. For capture/event_selection only. Pure.
#ifndef MEMAGENT_AGENT_CAPTURE_ENGINE_SELECTIONS_H_
#define MEMAGENT_AGENT_CAPTURE_ENGINE_SELECTIONS_H_

#include "agent/capture/engine_facts.h"
#include "agent/capture/engine_plan.h"
#include "agent/capture/event_selection.h"

namespace memagent::capture {

inline constexpr std::string_view kSysfsHidden =
    "/sys/bus/event_source/devices can't be read, so the machine's PMUs are not known.";
inline constexpr std::string_view kUnmaskSysfs =
    "Make /sys/bus/event_source visible (containers: do not mask /sys).";
inline constexpr std::string_view kUseHardware =
    "Use a machine whose PMU samples memory accesses (AMD with IBS, Intel with PEBS, Arm with "
    "SPE), "
    "bare metal or passed through.";

// For an engine of another vendor's: the machine's own engine can do, but for none there is none.
inline std::string_view RemedyOnOtherCpu(const EngineFacts& facts) {
  const bool has_own = facts.cpu.vendor == "AuthenticAMD" || facts.cpu.vendor == "GenuineIntel" ||
                       facts.cpu.vendor.starts_with("0x");
  return has_own ? "Nothing to do: CPUs of this vendor have another engine." : kUseHardware;
}

// Each returns true and fills `plan`, or returns false and says why in `refusal`.
bool PlanIbs(const EngineFacts& facts, const EventRequest& request, EnginePlan& plan,
             EngineRefusal& refusal);
bool PlanPebs(const EngineFacts& facts, const EventRequest& request, EnginePlan& plan,
              EngineRefusal& refusal);
bool PlanSpe(const EngineFacts& facts, const EventRequest& request, EnginePlan& plan,
             EngineRefusal& refusal);
bool PlanProfileMe(const EngineFacts& facts, const EventRequest& request, EnginePlan& plan,
                   EngineRefusal& refusal);
bool PlanSoftware(const EngineFacts& facts, const EventRequest& request, EnginePlan& plan,
                  EngineRefusal& refusal);

// Page faults, which run beside every engine.
EventLadder MinorFaultLadder(uint64_t period);
EventLadder MajorFaultLadder(uint64_t period);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_ENGINE_SELECTIONS_H_
