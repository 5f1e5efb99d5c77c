// AMD's Instruction-Based Sampling of micro-ops (facts: perf_abi 2).
#include <algorithm>

#include "agent/capture/engine_selections.h"
#include "agent/capture/event_attempts.h"
#include "agent/capture/sampling_period.h"

namespace memagent::capture {
namespace {

// AMD's own count: 84 % of the ops that are sampled access no memory (facts: perf_abi 2.4). Each is
// an interrupt all the same: 1000 samples a second are 6250 interrupts, about 1 % of the CPU.
// Periods are multiples of 16 of at least 0x90 (facts: perf_abi 2.2), also when 1/16 is taken off
// to randomize them.
constexpr PeriodRule kPeriodRule = {
    "ops",
    kBusyOpsPerSecond,
    16,
    true,
    16,
    0xa0,
    "Changed to what IBS can do: a multiple of 16 ops, 160 at least, below 2^32."};

// Limits of format/ldlat (facts: perf_abi 2.1).
constexpr uint64_t kShortestLatency = 128;
constexpr uint64_t kLongestLatency = 2048;

// Per-thread IBS events came with Linux 6.2 (facts: perf_abi 2.2).
constexpr os::KernelVersion kPerThreadSince = {6, 2};

constexpr std::string_view kKernelToo = "The kernel is sampled, too, and thrown away.";
constexpr std::string_view kWholeCpus = "Whole CPUs are sampled, and other programs thrown away.";

void AddFilters(const os::Pmu& pmu, const EventRequest& request, EventAttempt& attempt) {
  if (request.l3_miss_only && !SetTerm(pmu, "l3missonly", 1, attempt)) {
    AddLoss(attempt.loss, "l3_miss_only= is not kept: it needs a Zen 4 or later.");
  }
  if (request.latency_cycles == 0) return;
  const uint64_t latency = std::clamp(request.latency_cycles, kShortestLatency, kLongestLatency);
  if (!SetTerm(pmu, "ldlat", latency, attempt)) {
    AddLoss(attempt.loss, "ldlat= is not kept: IBS has a latency filter from Zen 5 on.");
  } else if (latency != request.latency_cycles) {
    AddLoss(attempt.loss, "ldlat= is changed: IBS filters by 128 to 2048 cycles.");
  }
}

// cnt_ctl counts ops; without it, a sample is taken every so many cycles.
EventAttempt BestAttempt(const os::Pmu& pmu, const EventRequest& request, uint64_t period) {
  EventAttempt best = NewPmuAttempt(pmu, "", period);
  best.attr.sample_type |= PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_RAW;
  if (!SetTerm(pmu, "cnt_ctl", 1, best)) {
    AddLoss(best.loss, "Cycles are counted instead of ops: slow code has more samples.");
  }
  AddFilters(pmu, request, best);
  return best;
}

// The filter that leaves the kernel out in software, Linux 6.14 and later: asked of sysfs, not of
// the version, as distributions carry it back.
bool LeaveKernelOut(const os::Pmu& pmu, EventAttempt& attempt) {
  if (!SetTerm(pmu, "swfilt", 1, attempt)) return false;
  attempt.attr.exclude_kernel = 1;
  return true;
}

EventLadder IbsLadder(const EngineFacts& facts, const os::Pmu& pmu, const EventRequest& request,
                      uint64_t period) {
  EventLadder ladder;
  const EventAttempt best = BestAttempt(pmu, request, period);
  const bool old = facts.kernel.version.known() && facts.kernel.version < kPerThreadSince;
  EventAttempt attempt = best;
  if (LeaveKernelOut(pmu, attempt)) AddWithSteps(facts, attempt, ladder);
  if (facts.may_sample_kernel()) {
    attempt = best;
    AddLoss(attempt.loss, kKernelToo);
    // An old version number does not rule it out: distributions carry that back, too.
    old ? ladder.push_back(attempt) : AddWithSteps(facts, attempt, ladder);
  }
  if (facts.may_sample_cpus()) {
    attempt = best;
    attempt.scope = EventScope::kCpu;
    AddLoss(attempt.loss, kWholeCpus);
    AddWithSteps(facts, attempt, ladder);
  }
  return ladder;
}

EngineRefusal NoPmu(const EngineFacts& facts) {
  if (!facts.pmus.sysfs) return {EngineKind::kIbs, kSysfsHidden, kUnmaskSysfs};
  // Hygon's CPUs are Zens.
  const bool amd = facts.cpu.vendor == "AuthenticAMD" || facts.cpu.vendor == "HygonGenuine";
  if (amd && facts.cpu.in_hypervisor) {
    return {EngineKind::kIbs, "sysfs has no ibs_op PMU: hypervisors do not offer IBS to guests.",
            "Run on the bare metal of an AMD machine."};
  }
  if (amd) {
    return {EngineKind::kIbs, "sysfs has no ibs_op PMU, though the CPU is AMD's.",
            "Turn IBS on in the firmware's setup, and use a kernel with CONFIG_PERF_EVENTS_AMD_*."};
  }
  return {EngineKind::kIbs, "sysfs has no ibs_op PMU (it needs an AMD CPU).",
          RemedyOnOtherCpu(facts)};
}

}  // namespace

bool PlanIbs(const EngineFacts& facts, const EventRequest& request, EnginePlan& plan,
             EngineRefusal& refusal) {
  const os::Pmu* pmu = facts.pmus.Find("ibs_op");
  if (pmu == nullptr) {
    refusal = NoPmu(facts);
    return false;
  }
  ChooseHardwarePeriod(facts.kernel, request, kPeriodRule, plan);
  EventLadder ladder = IbsLadder(facts, *pmu, request, plan.period);
  if (ladder.empty()) {
    refusal = {
        EngineKind::kIbs,
        "This kernel can't leave itself out of IBS samples, and sampling it needs a right.",
        "sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON; Linux 6.14 and later need neither."};
    return false;
  }
  plan.engine = EngineKind::kIbs;
  plan.access.push_back(std::move(ladder));
  return true;
}

}  // namespace memagent::capture
