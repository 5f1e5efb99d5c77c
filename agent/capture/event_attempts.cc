#include "agent/capture/event_attempts.h"

#include <time.h>

#include <charconv>

#include "agent/os/perf_event.h"

namespace memagent::capture {
namespace {

// What a record may lack, and what that costs.
struct SampleStep {
  uint64_t without;         // bits of sample_type
  uint64_t instead;         // that come in their place
  os::KernelVersion since;  // kernels that surely know them (facts: perf_abi 1.1)
  std::string_view loss;
};

// What an older kernel does not know (EINVAL), then what needs a right that only the kernel can
// judge (EACCES in a user namespace), then what should never be refused.
constexpr SampleStep kSteps[] = {
    {PERF_SAMPLE_DATA_PAGE_SIZE, 0, {5, 11}, "No size of the page."},
    {PERF_SAMPLE_WEIGHT_STRUCT, PERF_SAMPLE_WEIGHT, {5, 12}, "One latency instead of several."},
    {PERF_SAMPLE_PHYS_ADDR, 0, {}, kNoPhysicalAddress},
    {PERF_SAMPLE_RAW, 0, {}, "No telling prefetches from loads, no width, no TLB details."},
};

// False where `attempt` has not what the step is without.
bool TakeStep(const SampleStep& step, EventAttempt& attempt) {
  if ((attempt.attr.sample_type & step.without) == 0) return false;
  attempt.attr.sample_type &= ~step.without;
  attempt.attr.sample_type |= step.instead;
  AddLoss(attempt.loss, step.loss);
  return true;
}

}  // namespace

perf_event_attr NewSamplingAttr(uint32_t type, uint64_t config, uint64_t period) {
  perf_event_attr attr = os::NewPerfAttr(type, config);
  attr.sample_period = period;
  attr.sample_type = kCommonSample;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  return attr;
}

void AddLoss(base::String& losses, std::string_view loss) {
  if (!losses.empty() && !loss.empty()) losses += ' ';
  losses += loss;
}

void AddWithSteps(const EngineFacts& facts, EventAttempt best, EventLadder& ladder) {
  if (!facts.may_sample_kernel() && (best.attr.sample_type & PERF_SAMPLE_PHYS_ADDR) != 0) {
    best.attr.sample_type &= ~static_cast<uint64_t>(PERF_SAMPLE_PHYS_ADDR);
    AddLoss(best.loss, kNoPhysicalAddress);
  }
  ladder.push_back(best);
  const os::KernelVersion& version = facts.kernel.version;
  for (const SampleStep& step : kSteps) {
    if (step.since.known() && version >= step.since) continue;
    if (TakeStep(step, best)) ladder.push_back(best);
  }
}

EventAttempt NewPmuAttempt(const os::Pmu& pmu, std::string_view event, uint64_t period) {
  EventAttempt attempt;
  attempt.attr = NewSamplingAttr(pmu.type, 0, period);
  attempt.attr.sample_type |= kAccessSample;
  attempt.event = pmu.name;
  attempt.event.append("/").append(event).append("/");
  return attempt;
}

bool SetTerm(const os::Pmu& pmu, std::string_view field, uint64_t value, EventAttempt& attempt) {
  if (!os::SetPmuField(pmu, field, value, attempt.attr)) return false;
  char digits[24];
  const std::string_view number(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
  attempt.event.pop_back();
  if (attempt.event.back() != '/') attempt.event += ',';
  attempt.event.append(field).append("=").append(number).append("/");
  return true;
}

}  // namespace memagent::capture
