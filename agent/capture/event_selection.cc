#include "agent/capture/event_selection.h"

#include <time.h>

#include "agent/os/perf_event.h"

namespace memagent::capture {
namespace {

// AX..SS and R8..R15: all that x86-64 lets us have (facts: perf_abi 1.1). No other architecture's
// registers have a decoder yet, so there they are not asked for.
#if defined(__x86_64__)
constexpr uint64_t kUserRegisters = 0xff0fff;
#else
constexpr uint64_t kUserRegisters = 0;
#endif

// Samples of all events share one ring and one clock, the one that allocations are stamped with.
// IDENTIFIER is first in each record and tells the events apart. Not PERF_SAMPLE_PERIOD: with it a
// software event writes every occurrence, whatever its period (facts: perf_abi 5.1).
constexpr uint64_t kCommonSample =
    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

EventAttempt SoftwareEvent(uint64_t config, uint64_t period, std::string_view event,
                           std::string_view loss) {
  EventAttempt attempt;
  attempt.attr = os::NewPerfAttr(PERF_TYPE_SOFTWARE, config);
  attempt.attr.sample_period = period;
  attempt.attr.sample_type = kCommonSample;
  attempt.attr.exclude_kernel = 1;  // needs no right, and our data is in user space
  attempt.attr.exclude_hv = 1;
  attempt.attr.use_clockid = 1;
  attempt.attr.clockid = CLOCK_MONOTONIC;
  attempt.event = event;
  attempt.loss = loss;
  return attempt;
}

EventAttempt ClockEvent(uint64_t config, uint64_t period, std::string_view event,
                        std::string_view loss) {
  EventAttempt attempt = SoftwareEvent(config, period, event, loss);
  attempt.attr.sample_type |= PERF_SAMPLE_REGS_USER;
  attempt.attr.sample_regs_user = kUserRegisters;
  attempt.has_registers = true;
  return attempt;
}

EventAttempt FaultEvent(uint64_t config, uint64_t period, std::string_view event,
                        std::string_view loss) {
  EventAttempt attempt = SoftwareEvent(config, period, event, loss);
  attempt.attr.sample_type |= PERF_SAMPLE_ADDR;
  return attempt;
}

void Add(EventLadder& ladder, const EventAttempt& attempt) {
  ladder.attempts[ladder.count++] = attempt;
}

// cpu-clock and task-clock are two hrtimers that measured alike (facts: software_engine 1, 4);
// should a sandbox refuse registers, the instruction alone still names the code.
EventLadder SoftwareLadder(uint64_t period) {
  EventLadder ladder;
  if constexpr (kUserRegisters != 0) {
    Add(ladder, ClockEvent(PERF_COUNT_SW_CPU_CLOCK, period, "software/cpu-clock", ""));
    Add(ladder,
        ClockEvent(PERF_COUNT_SW_TASK_CLOCK, period, "software/task-clock",
                   "Nothing is lost: task-clock ticks like cpu-clock, at a little more cost."));
  }
  Add(ladder, SoftwareEvent(PERF_COUNT_SW_CPU_CLOCK, period, "software/cpu-clock without registers",
                            "No data address: samples name the code but not the memory."));
  return ladder;
}

// _MIN and _MAJ fire after the fault has been handled, so the page has a node by then; PAGE_FAULTS,
// which covers both, fires before (facts: perf_abi 5.1).
EventLadder MinorFaultLadder(uint64_t period) {
  EventLadder ladder;
  Add(ladder, FaultEvent(PERF_COUNT_SW_PAGE_FAULTS_MIN, period, "software/minor-faults", ""));
  Add(ladder,
      FaultEvent(PERF_COUNT_SW_PAGE_FAULTS, period, "software/page-faults",
                 "Major faults are in it too, and the page is not placed yet when it fires."));
  return ladder;
}

EventLadder MajorFaultLadder(uint64_t period) {
  EventLadder ladder;
  Add(ladder, FaultEvent(PERF_COUNT_SW_PAGE_FAULTS_MAJ, period, "software/major-faults", ""));
  return ladder;
}

constexpr std::string_view kUseHardware =
    "Use a machine whose PMU samples memory accesses (AMD with IBS, Intel with PEBS, Arm with "
    "SPE), "
    "bare metal or passed through.";
constexpr std::string_view kNoDriver = "Wait for a version of memagent that has this engine.";
constexpr std::string_view kMaskedSysfs =
    "Make /sys/bus/event_source visible (containers: do not mask /sys).";

constexpr std::string_view kSysfsHidden =
    "/sys/bus/event_source/devices can't be read, so the machine's PMUs are not known.";

EngineRefusal IbsRefusal(const os::PmuFacts& pmus, const os::CpuInfo& cpu) {
  if (pmus.ibs_op) {
    return {EngineKind::kIbs, "The ibs_op PMU is there, but this version can't drive it yet.",
            kNoDriver};
  }
  if (!pmus.sysfs) return {EngineKind::kIbs, kSysfsHidden, kMaskedSysfs};
  if (cpu.vendor == "AuthenticAMD" && cpu.in_hypervisor) {
    return {EngineKind::kIbs, "sysfs has no ibs_op PMU: hypervisors do not offer IBS to guests.",
            "Run on the bare metal of an AMD machine."};
  }
  return {EngineKind::kIbs, "sysfs has no ibs_op PMU (it needs an AMD CPU).", kUseHardware};
}

EngineRefusal PebsRefusal(const os::PmuFacts& pmus) {
  if (pmus.mem_loads && pmus.max_precise >= 2) {
    return {EngineKind::kPebs, "The mem-loads event is there, but this version can't drive it yet.",
            kNoDriver};
  }
  if (pmus.mem_loads) {
    return {EngineKind::kPebs, "The cpu PMU has a mem-loads event, but no PEBS (max_precise < 2).",
            kUseHardware};
  }
  if (!pmus.sysfs) return {EngineKind::kPebs, kSysfsHidden, kMaskedSysfs};
  return {EngineKind::kPebs,
          "sysfs has no cpu PMU with a mem-loads event (it needs an Intel CPU with PEBS).",
          kUseHardware};
}

EngineRefusal SpeRefusal(const os::PmuFacts& pmus) {
  if (pmus.arm_spe) {
    return {EngineKind::kSpe, "An arm_spe PMU is there, but this version can't drive it yet.",
            kNoDriver};
  }
  if (!pmus.sysfs) return {EngineKind::kSpe, kSysfsHidden, kMaskedSysfs};
  return {EngineKind::kSpe, "sysfs has no arm_spe PMU (it needs an Arm CPU with SPE).",
          kUseHardware};
}

constexpr EngineRefusal kNotWanted = {EngineKind::kSoftware,
                                      "Another engine was asked for with engine=.",
                                      "Use engine=auto or engine=software."};

void Refuse(EventSelection& selection, const EngineRefusal& refusal) {
  selection.refused[selection.refused_count++] = refusal;
}

uint64_t PeriodFor(const EventRequest& request) {
  if (request.period_nanos != 0) return request.period_nanos;
  return request.rate_hz != 0 ? kMaxClockPeriodNanos / request.rate_hz : kMaxClockPeriodNanos;
}

// The kernel stops an event for the rest of a scheduler tick when it goes over max_sample_rate, and
// lowers that limit for the whole machine when handlers take long: stay at half of it.
uint64_t ShortestPeriod(const os::KernelSettings& kernel) {
  if (kernel.max_sample_rate == 0) return kMinClockPeriodNanos;
  const uint64_t half_rate = 2 * kMaxClockPeriodNanos / kernel.max_sample_rate;
  return half_rate > kMinClockPeriodNanos ? half_rate : kMinClockPeriodNanos;
}

void ChoosePeriod(const os::KernelSettings& kernel, const EventRequest& request,
                  EventSelection& selection) {
  const uint64_t shortest = ShortestPeriod(kernel);
  selection.period_nanos = PeriodFor(request);
  if (selection.period_nanos < shortest) {
    selection.period_nanos = shortest;
    selection.rate_change =
        "Lowered to what the kernel can do: 10 us, or half of kernel.perf_event_max_sample_rate.";
  } else if (selection.period_nanos > kMaxClockPeriodNanos) {
    selection.period_nanos = kMaxClockPeriodNanos;
    selection.rate_change = "Raised to one sample a second: less would measure nothing.";
  }
}

}  // namespace

EventSelection SelectEvents(const os::PmuFacts& pmus, const os::CpuInfo& cpu,
                            const os::KernelSettings& kernel, const EventRequest& request) {
  EventSelection selection;
  Refuse(selection, IbsRefusal(pmus, cpu));
  Refuse(selection, PebsRefusal(pmus));
  Refuse(selection, SpeRefusal(pmus));
  if (request.automatic || request.engine == EngineKind::kSoftware) {
    selection.engine = EngineKind::kSoftware;
    ChoosePeriod(kernel, request, selection);
    selection.access = SoftwareLadder(selection.period_nanos);
  } else {
    Refuse(selection, kNotWanted);
  }
  const uint64_t fault_period = request.fault_period != 0 ? request.fault_period : 1;
  selection.minor_faults = MinorFaultLadder(fault_period);
  selection.major_faults = MajorFaultLadder(fault_period);
  return selection;
}

}  // namespace memagent::capture
