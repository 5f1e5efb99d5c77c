// Intel's memory events with PEBS (facts: perf_abi 3).
//
// The attr keeps large PEBS possible but for one thing: TIME with use_clockid makes each sample an
// interrupt. It stays, since a sample's time decides which block its address belonged to, and all
// events of a thread share a ring and so a clock. At 1000 samples a second that is 0.3 to 0.5 % of
// a CPU. Not asked for: DATA_PAGE_SIZE, CALLCHAIN and RAW, which would cost more for each sample.
#include <algorithm>

#include "agent/capture/engine_selections.h"
#include "agent/capture/event_attempts.h"
#include "agent/capture/sampling_period.h"
#include "agent/os/perf_event.h"

namespace memagent::capture {
namespace {

// A quarter of all instructions load. Below 128 a precise event is refused (facts: perf_abi 3.2),
// also when 1/16 is taken off to randomize the period.
constexpr PeriodRule kPeriodRule = {"loads",
                                    kBusyOpsPerSecond / 4,
                                    100,
                                    true,
                                    1,
                                    137,
                                    "Changed to what PEBS can do: 137 loads at least, below 2^32."};

// Every load takes at least this long, so that shares are shares of all loads, as with the other
// engines. perf's own default of 30 hides hits in L1 and L2. One value for the whole process:
// hyper-threads share the register (facts: perf_abi 3.2).
constexpr uint64_t kEveryLoad = 3;
constexpr uint64_t kLongestLatency = 0xffff;  // the field has 16 bits

// In the order of their weight to a program: one on most machines, two or three on hybrid ones.
constexpr std::string_view kPmuNames[] = {"cpu", "cpu_core", "cpu_atom", "cpu_lowpower"};

constexpr uint64_t kLeastPrecise = 2;  // at 1 the instruction is not exact
constexpr uint64_t kMostPrecise = 3;   // of kernels that do not say

constexpr std::string_view kLessPrecise =
    "On some CPUs the instruction may be the one beside (precise_ip 2).";

uint64_t MaxPrecise(const os::Pmu& pmu) {
  return std::min(pmu.CapNumber("max_precise").value_or(kMostPrecise), kMostPrecise);
}

bool CanSample(const os::Pmu& pmu) {
  return pmu.FindEvent("mem-loads") != nullptr && MaxPrecise(pmu) >= kLeastPrecise;
}

// Counts beside the loads, as their group's leader; it takes no samples. It is enabled from the
// start, so that enabling the loads is enough. A group has one clock: else EINVAL.
void AddLeader(const os::Pmu& pmu, EventAttempt& attempt) {
  attempt.leader = os::NewPerfAttr(pmu.type, 0);
  if (!os::SetPmuEvent(pmu, "mem-loads-aux", attempt.leader)) return;
  attempt.leader.disabled = 0;
  attempt.leader.exclude_kernel = 1;
  attempt.leader.exclude_guest = 1;
  attempt.leader.use_clockid = attempt.attr.use_clockid;
  attempt.leader.clockid = attempt.attr.clockid;
  attempt.has_leader = true;
}

EventLadder PebsLadder(const EngineFacts& facts, const os::Pmu& pmu, std::string_view event,
                       const EventAttempt& start) {
  EventLadder ladder;
  EventAttempt best = start;
  if (!os::SetPmuEvent(pmu, event, best.attr)) return ladder;
  best.attr.exclude_kernel = 1;
  best.attr.exclude_guest =
      1;  // else hosts of guests that own the PMU refuse (facts: perf_abi 1.8)
  for (uint64_t precise = MaxPrecise(pmu); precise >= kLeastPrecise; --precise) {
    best.attr.precise_ip = precise & 3;
    AddWithSteps(facts, best, ladder);
    AddLoss(best.loss, kLessPrecise);
  }
  return ladder;
}

void AddLoads(const EngineFacts& facts, const os::Pmu& pmu, const EventRequest& request,
              EnginePlan& plan) {
  uint64_t latency = request.latency_cycles == 0 ? kEveryLoad : request.latency_cycles;
  latency = std::clamp(latency, kEveryLoad, kLongestLatency);
  EventAttempt start = NewPmuAttempt(pmu, "mem-loads", plan.period);
  if (request.l3_miss_only)
    AddLoss(start.loss, "l3_miss_only= is not kept: PEBS has no such filter.");
  AddLeader(pmu, start);
  EventLadder ladder = PebsLadder(facts, pmu, "mem-loads", start);
  // After the event's own terms, which hold a threshold.
  for (EventAttempt& attempt : ladder) SetTerm(pmu, "ldlat", latency, attempt);
  if (!ladder.empty()) plan.access.push_back(std::move(ladder));
}

void AddStores(const EngineFacts& facts, const os::Pmu& pmu, EnginePlan& plan) {
  const EventAttempt start = NewPmuAttempt(pmu, "mem-stores", plan.period);
  EventLadder ladder = PebsLadder(facts, pmu, "mem-stores", start);
  if (!ladder.empty()) plan.access.push_back(std::move(ladder));
}

EngineRefusal NoPmu(const EngineFacts& facts) {
  if (!facts.pmus.sysfs) return {EngineKind::kPebs, kSysfsHidden, kUnmaskSysfs};
  for (const std::string_view name : kPmuNames) {
    const os::Pmu* pmu = facts.pmus.Find(name);
    if (pmu != nullptr && pmu->FindEvent("mem-loads") != nullptr) {
      return {EngineKind::kPebs,
              "The cpu PMU has a mem-loads event, but no PEBS (max_precise < 2).", kUseHardware};
    }
  }
  if (facts.cpu.vendor == "GenuineIntel" && facts.cpu.in_hypervisor) {
    return {EngineKind::kPebs,
            "The cpu PMU has no mem-loads event: the hypervisor offers no PEBS to this guest.",
            "Pass the PMU through (KVM: Ice Lake or later, -cpu host,pmu=on), or use bare metal."};
  }
  return {EngineKind::kPebs,
          "sysfs has no cpu PMU with a mem-loads event (it needs an Intel CPU with PEBS).",
          RemedyOnOtherCpu(facts)};
}

}  // namespace

bool PlanPebs(const EngineFacts& facts, const EventRequest& request, EnginePlan& plan,
              EngineRefusal& refusal) {
  ChooseHardwarePeriod(facts.kernel, request, kPeriodRule, plan);
  for (const std::string_view name : kPmuNames) {
    const os::Pmu* pmu = facts.pmus.Find(name);
    if (pmu == nullptr || !CanSample(*pmu)) continue;
    AddLoads(facts, *pmu, request, plan);
    AddStores(facts, *pmu, plan);
  }
  if (plan.access.empty()) {
    refusal = NoPmu(facts);
    return false;
  }
  plan.engine = EngineKind::kPebs;
  return true;
}

}  // namespace memagent::capture
