// ProfileMe of Alpha 21264A and later (facts: profileme). It samples instructions, with their fate
// and the cycles around them, but without a data address. Written from the description of kernel
// patches; never seen to run.
#include "agent/capture/engine_selections.h"
#include "agent/capture/event_attempts.h"
#include "agent/capture/sampling_period.h"

namespace memagent::capture {
namespace {

constexpr uint64_t kInstructions = 2;  // the event with which the second counter counts cycles

// At most one instruction a cycle at 1.15 GHz on the whole. Below 1024 there would be more
// interrupts than work.
constexpr PeriodRule kPeriodRule = {
    "instructions",
    1'000'000'000,
    100,
    true,
    1,
    1024,
    "Changed to what ProfileMe can do: 1024 instructions at least, below 2^32."};

EventAttempt ProfileMeAttempt(const os::Pmu& pmu, uint64_t period) {
  EventAttempt attempt = NewPmuAttempt(pmu, "", period);
  attempt.attr.sample_type = kCommonSample | PERF_SAMPLE_RAW;
  SetTerm(pmu, "event", kInstructions, attempt);
  SetTerm(pmu, "profileme", 1, attempt);
  SetTerm(pmu, "randomize", 1, attempt);
  return attempt;
}

}  // namespace

bool PlanProfileMe(const EngineFacts& facts, const EventRequest& request, EnginePlan& plan,
                   EngineRefusal& refusal) {
  const os::Pmu* pmu = facts.pmus.Find("cpu");
  if (pmu == nullptr || pmu->FindField("profileme") == nullptr) {
    refusal = {EngineKind::kProfileMe,
               facts.pmus.sysfs
                   ? "sysfs has no cpu PMU with ProfileMe (it needs an Alpha 21264A or "
                     "later)."
                   : kSysfsHidden,
               facts.pmus.sysfs ? kUseHardware : kUnmaskSysfs};
    return false;
  }
  ChooseHardwarePeriod(facts.kernel, request, kPeriodRule, plan);
  EventAttempt attempt = ProfileMeAttempt(*pmu, plan.period);
  EventLadder& ladder = plan.access.emplace_back();
  attempt.attr.exclude_kernel = 1;
  ladder.push_back(attempt);
  if (facts.may_sample_kernel()) {
    attempt.attr.exclude_kernel = 0;
    AddLoss(attempt.loss, "The kernel is sampled, too, and thrown away.");
    ladder.push_back(attempt);
  }
  plan.engine = EngineKind::kProfileMe;
  plan.varies_itself = pmu->FindField("randomize") != nullptr;
  return true;
}

}  // namespace memagent::capture
