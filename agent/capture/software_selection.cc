// The software engine's events, and page faults: no hardware, no right (facts: perf_abi 5).
#include "agent/capture/engine_selections.h"
#include "agent/capture/event_attempts.h"
#include "agent/capture/sampling_period.h"

namespace memagent::capture {
namespace {

// AX..SS and R8..R15: all that x86-64 lets us have (facts: perf_abi 1.1). No other architecture's
// registers have a decoder yet, so there they are not asked for.
#if defined(__x86_64__)
constexpr uint64_t kUserRegisters = 0xff0fff;
#else
constexpr uint64_t kUserRegisters = 0;
#endif

EventAttempt SoftwareEvent(uint64_t config, uint64_t period, std::string_view event,
                           std::string_view loss) {
  EventAttempt attempt;
  attempt.attr = NewSamplingAttr(PERF_TYPE_SOFTWARE, config, period);
  attempt.attr.exclude_kernel = 1;  // needs no right, and our data is in user space
  attempt.attr.exclude_hv = 1;
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
  // Each has its thread's ring: a burst of faults fills that, so what is known is not written.
  attempt.attr.sample_type &= ~static_cast<uint64_t>(PERF_SAMPLE_TID);
  return attempt;
}

// With the size of the page, which kernels before 5.11 don't know: one fault may bring 512 pages.
void PushFaultEvent(uint64_t config, uint64_t period, std::string_view name, EventLadder& ladder) {
  EventAttempt attempt = FaultEvent(config, period, name, "");
  attempt.attr.sample_type |= PERF_SAMPLE_DATA_PAGE_SIZE;
  ladder.push_back(std::move(attempt));
  ladder.push_back(FaultEvent(config, period, name, "A huge page counts as a small one."));
}

// cpu-clock and task-clock are two hrtimers that measured alike (facts: software_engine 1, 4);
// should a sandbox refuse registers, the instruction alone still names the code.
EventLadder SoftwareLadder(uint64_t period) {
  EventLadder ladder;
  if constexpr (kUserRegisters != 0) {
    ladder.push_back(ClockEvent(PERF_COUNT_SW_CPU_CLOCK, period, "software/cpu-clock", ""));
    ladder.push_back(
        ClockEvent(PERF_COUNT_SW_TASK_CLOCK, period, "software/task-clock",
                   "Nothing is lost: task-clock ticks like cpu-clock, at a little more cost."));
  }
  ladder.push_back(SoftwareEvent(PERF_COUNT_SW_CPU_CLOCK, period,
                                 "software/cpu-clock without registers",
                                 "No data address: samples name the code but not the memory."));
  return ladder;
}

}  // namespace

// _MIN and _MAJ fire after the fault has been handled, so the page has a node by then; PAGE_FAULTS,
// which covers both, fires before (facts: perf_abi 5.1).
EventLadder MinorFaultLadder(uint64_t period) {
  EventLadder ladder;
  PushFaultEvent(PERF_COUNT_SW_PAGE_FAULTS_MIN, period, "software/minor-faults", ladder);
  ladder.push_back(
      FaultEvent(PERF_COUNT_SW_PAGE_FAULTS, period, "software/page-faults",
                 "Major faults are in it too, and the page is not placed yet when it fires."));
  return ladder;
}

EventLadder MajorFaultLadder(uint64_t period) {
  EventLadder ladder;
  PushFaultEvent(PERF_COUNT_SW_PAGE_FAULTS_MAJ, period, "software/major-faults", ladder);
  return ladder;
}

bool PlanSoftware(const EngineFacts& facts, const EventRequest& request, EnginePlan& plan,
                  EngineRefusal&) {
  plan.engine = EngineKind::kSoftware;
  ChooseClockPeriod(facts.kernel, request, plan);
  plan.access.push_back(SoftwareLadder(plan.period));
  return true;
}

}  // namespace memagent::capture
