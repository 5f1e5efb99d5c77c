// Arm's Statistical Profiling Extension (facts: perf_abi 4.1, 4.2). Its samples are packets in an
// AUX area; the ring gets AUX records only, which sample_id_all gives a time, a thread and a CPU.
#include <algorithm>
#include <utility>

#include "agent/capture/engine_selections.h"
#include "agent/capture/event_attempts.h"
#include "agent/capture/sampling_period.h"

namespace memagent::capture {
namespace {

// About a third of all ops load or store; the CPU drops the samples of others before they are
// written, so that they cost nothing. The kernel masks the low 8 bits of a period.
constexpr uint64_t kAccessPercent = 35;
constexpr uint64_t kPeriodStep = 256;
constexpr uint64_t kLongestMinInterval = 4096;  // of caps/min_interval (facts: perf_abi 4.1)
constexpr std::string_view kSpePrefix = "arm_spe_";

constexpr uint64_t kRetired = uint64_t{1} << 1;       // in event_filter (facts: perf_abi 4.4)
constexpr uint64_t kLongestLatency = (1u << 12) - 1;  // min_latency has 12 bits

// What an attempt asks for beside the bare samples.
struct Wanted {
  bool physical_address;
  bool retired_only;
  uint64_t latency;
  bool accesses_only;
};

EventAttempt NewAttempt(const os::Pmu& pmu, uint64_t period) {
  EventAttempt attempt = NewPmuAttempt(pmu, "", period);
  attempt.attr.sample_type = kCommonSample & ~uint64_t{PERF_SAMPLE_IP};
  attempt.attr.sample_id_all = 1;
  attempt.attr.exclude_kernel = 1;
  SetTerm(pmu, "ts_enable", 1, attempt);
  SetTerm(pmu, "jitter", 1, attempt);
  return attempt;
}

EventAttempt SpeAttempt(const os::Pmu& pmu, uint64_t period, uint64_t asked_latency,
                        const Wanted& wanted) {
  EventAttempt attempt = NewAttempt(pmu, period);
  if (!wanted.accesses_only || !SetTerm(pmu, "load_filter", 1, attempt) ||
      !SetTerm(pmu, "store_filter", 1, attempt)) {
    AddLoss(attempt.loss, "Ops that access no memory are written, too.");
  }
  if (!wanted.physical_address || !SetTerm(pmu, "pa_enable", 1, attempt)) {
    AddLoss(attempt.loss, kNoPhysicalAddress);
  }
  if (!wanted.retired_only || !SetTerm(pmu, "event_filter", kRetired, attempt)) {
    AddLoss(attempt.loss, "Accesses that were speculated and never happened are in it.");
  }
  if (asked_latency != 0 &&
      (wanted.latency == 0 || !SetTerm(pmu, "min_latency", wanted.latency, attempt))) {
    AddLoss(attempt.loss, "ldlat= is not kept: this CPU has no latency filter.");
  }
  return attempt;
}

// Down one step at a time: a right (EACCES), then what the CPU may lack (EOPNOTSUPP).
EventLadder SpeLadder(const EngineFacts& facts, const os::Pmu& pmu, const EventRequest& request,
                      uint64_t period) {
  const uint64_t asked = request.latency_cycles;
  Wanted wanted = {facts.may_sample_kernel(), true, std::min(asked, kLongestLatency), true};
  EventLadder ladder;
  const auto add = [&] { ladder.push_back(SpeAttempt(pmu, period, asked, wanted)); };
  add();
  if (std::exchange(wanted.physical_address, false)) add();
  if (std::exchange(wanted.retired_only, false)) add();
  if (std::exchange(wanted.latency, 0) != 0) add();
  if (std::exchange(wanted.accesses_only, false)) add();
  if (request.l3_miss_only) {
    for (EventAttempt& attempt : ladder) {
      AddLoss(attempt.loss, "l3_miss_only= is not kept: SPE has no such filter.");
    }
  }
  return ladder;
}

// The longest of the shortest intervals that the CPUs support, so that one period is good for all.
PeriodRule RuleFor(const EngineFacts& facts) {
  PeriodRule rule = {"ops",
                     kBusyOpsPerSecond,
                     kAccessPercent,
                     false,
                     kPeriodStep,
                     kPeriodStep,
                     "Changed to what SPE can do: a multiple of 256 ops, not below the CPU's "
                     "shortest interval, below 2^32."};
  for (const os::Pmu& pmu : facts.pmus.pmus) {
    if (!pmu.name.starts_with(kSpePrefix)) continue;
    const uint64_t shortest = pmu.CapNumber("min_interval").value_or(kPeriodStep);
    rule.shortest = std::clamp(shortest, rule.shortest, kLongestMinInterval);
    if (pmu.CapNumber("arch_inst").value_or(0) == 1) rule.unit = "instructions";
  }
  return rule;
}

EngineRefusal NoPmu(const EngineFacts& facts) {
  if (!facts.pmus.sysfs) return {EngineKind::kSpe, kSysfsHidden, kUnmaskSysfs};
  if (!facts.cpu.vendor.starts_with("0x")) {
    return {EngineKind::kSpe, "sysfs has no arm_spe PMU (it needs an Arm CPU with SPE).",
            RemedyOnOtherCpu(facts)};
  }
  return {
      EngineKind::kSpe,
      "sysfs has no arm_spe PMU: the driver is not loaded, the firmware or a hypervisor owns the "
      "buffer, or the CPU has no SPE.",
      "modprobe arm_spe_pmu; where dmesg says 'profiling buffer inaccessible', boot with "
      "kpti=off; virtual machines have no SPE."};
}

}  // namespace

bool PlanSpe(const EngineFacts& facts, const EventRequest& request, EnginePlan& plan,
             EngineRefusal& refusal) {
  ChooseHardwarePeriod(facts.kernel, request, RuleFor(facts), plan);
  for (const os::Pmu& pmu : facts.pmus.pmus) {
    if (pmu.name.starts_with(kSpePrefix)) {
      plan.access.push_back(SpeLadder(facts, pmu, request, plan.period));
    }
  }
  if (plan.access.empty()) {
    refusal = NoPmu(facts);
    return false;
  }
  plan.engine = EngineKind::kSpe;
  plan.uses_aux = true;
  plan.varies_itself = true;
  return true;
}

}  // namespace memagent::capture
