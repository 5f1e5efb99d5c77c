#include "agent/capture/event_attempts.h"

#include <time.h>

#include <charconv>

#include "agent/os/perf_event.h"

namespace memagent::capture {
namespace {

constexpr std::string_view kNoPageSize = "The size of the page is not known.";
constexpr std::string_view kPlainWeight =
    "Of several latencies only one is known (Linux before 5.12).";

// From what most often fails to what hardly ever does: a right, then the kernel's age.
constexpr SampleStep kSteps[] = {
    {PERF_SAMPLE_PHYS_ADDR, 0, kNoPhysicalAddress},
    {PERF_SAMPLE_DATA_PAGE_SIZE, 0, kNoPageSize},
    {PERF_SAMPLE_WEIGHT_STRUCT, PERF_SAMPLE_WEIGHT, kPlainWeight},
    {PERF_SAMPLE_RAW, 0,
     "Prefetches pass for loads; width, page size in the TLB and refill time are not known."},
};

constexpr os::KernelVersion kDataPageSizeSince = {5, 11};  // facts: perf_abi 1.1
constexpr os::KernelVersion kWeightStructSince = {5, 12};

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

bool TakeStep(const SampleStep& step, EventAttempt& attempt) {
  if ((attempt.attr.sample_type & step.without) == 0) return false;
  attempt.attr.sample_type &= ~step.without;
  attempt.attr.sample_type |= step.instead;
  AddLoss(attempt.loss, step.loss);
  return true;
}

void FitToFacts(const EngineFacts& facts, EventAttempt& attempt) {
  const os::KernelVersion& version = facts.kernel.version;
  if (!facts.may_sample_kernel()) TakeStep(kSteps[0], attempt);
  if (version.known() && version < kDataPageSizeSince) TakeStep(kSteps[1], attempt);
  if (version.known() && version < kWeightStructSince) TakeStep(kSteps[2], attempt);
}

void AddWithSteps(EventAttempt best, EventLadder& ladder) {
  ladder.push_back(best);
  for (const SampleStep& step : kSteps) {
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
