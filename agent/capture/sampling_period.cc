#include "agent/capture/sampling_period.h"

#include <algorithm>

namespace memagent::capture {
namespace {

constexpr std::string_view kRateTooHigh =
    "Lowered to what the kernel can do: half of kernel.perf_event_max_sample_rate.";

uint64_t PeriodOfRate(const PeriodRule& rule, uint64_t rate_hz) {
  return rule.units_per_second / 100 * rule.sample_percent / std::max<uint64_t>(rate_hz, 1);
}

// The shortest period at which the interrupts stay at half of the kernel's limit.
uint64_t ShortestForKernel(const os::KernelSettings& kernel, const PeriodRule& rule) {
  if (!rule.interrupts || kernel.max_sample_rate == 0) return 0;
  return 2 * rule.units_per_second / kernel.max_sample_rate;
}

// The kernel's limit is for interrupts of any event, those of hrtimers too.
uint64_t ShortestClockPeriod(const os::KernelSettings& kernel) {
  if (kernel.max_sample_rate == 0) return kMinClockPeriodNanos;
  const uint64_t half_rate = 2 * kMaxClockPeriodNanos / kernel.max_sample_rate;
  return std::max(half_rate, kMinClockPeriodNanos);
}

}  // namespace

void ChooseHardwarePeriod(const os::KernelSettings& kernel, const EventRequest& request,
                          const PeriodRule& rule, EnginePlan& plan) {
  uint64_t period = request.period;
  if (period == 0) {
    const uint64_t wanted = PeriodOfRate(rule, request.rate_hz);
    period = std::max(wanted, ShortestForKernel(kernel, rule));
    if (period != wanted) plan.rate_change = kRateTooHigh;
  }
  const uint64_t asked = period;
  period = std::clamp(period, rule.shortest, kLongestHardwarePeriod) / rule.step * rule.step;
  if (period != asked && (request.period != 0 || period > asked)) plan.rate_change = rule.change;
  plan.period = period;
  plan.period_unit = rule.unit;
  plan.period_step = rule.step;
  plan.shortest_period = rule.shortest;
}

void ChooseClockPeriod(const os::KernelSettings& kernel, const EventRequest& request,
                       EnginePlan& plan) {
  const uint64_t shortest = ShortestClockPeriod(kernel);
  plan.period_unit = "ns";
  plan.shortest_period = kMinClockPeriodNanos;
  plan.period = request.period;
  if (plan.period == 0) {
    plan.period = kMaxClockPeriodNanos / std::max<uint64_t>(request.rate_hz, 1);
  }
  if (plan.period < shortest) {
    plan.period = shortest;
    plan.rate_change =
        "Lowered to what the kernel can do: 10 us, or half of kernel.perf_event_max_sample_rate.";
  } else if (plan.period > kMaxClockPeriodNanos) {
    plan.period = kMaxClockPeriodNanos;
    plan.rate_change = "Raised to one sample a second: less would measure nothing.";
  }
}

}  // namespace memagent::capture
