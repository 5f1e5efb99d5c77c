#include "agent/runtime/budget.h"

#include <algorithm>
#include <utility>

namespace memagent::runtime {
namespace {

// Well over the budget two steps are taken at once.
constexpr double kFarOver = 4;
constexpr double kFarUnder = 0.25;

double Overhead(const CostSoFar& from, const CostSoFar& to) {
  const double cost =
      (to.tracking - from.tracking) + (to.sampling - from.sampling) + (to.drain - from.drain);
  return to.program > from.program ? cost / (to.program - from.program) : 0;
}

}  // namespace

double Budget::overhead() const { return last_ ? Overhead(first_, *last_) : 0; }

bool Budget::Lower(bool tracking) {
  if (tracking) {
    if (rates_.sample_bytes >= most_sample_bytes_) return false;
    rates_.sample_bytes =
        std::clamp(rates_.sample_bytes * 4, kFirstSampleBytes, most_sample_bytes_);
  } else {
    if (rates_.period_factor >= kMostPeriodFactor) return false;
    rates_.period_factor *= 2;
  }
  tracking_lowered_last_ = tracking;
  return true;
}

bool Budget::Raise() {
  const bool tracking = rates_.sample_bytes != finest_.sample_bytes;
  const bool sampling = rates_.period_factor != finest_.period_factor;
  if (!tracking && !sampling) return false;
  if (tracking && (tracking_lowered_last_ || !sampling)) {
    const uint32_t finer = rates_.sample_bytes / 4;
    rates_.sample_bytes = finer < kFirstSampleBytes ? 1 : finer;
    rates_.sample_bytes = std::max(rates_.sample_bytes, finest_.sample_bytes);
  } else {
    rates_.period_factor /= 2;
  }
  return true;
}

std::optional<Budget::Step> Budget::Judge(Nanos now, const CostSoFar& cost) {
  if (!DueAt(now)) return std::nullopt;
  next_ = now + kIntervalNanos;
  if (!last_) {
    first_ = cost;
    last_ = cost;
    return std::nullopt;
  }
  if (cost.program - last_->program < kLeastProgramNanos) return std::nullopt;
  const CostSoFar before = std::exchange(*last_, cost);
  const double tracking = cost.tracking - before.tracking;
  // What the drain thread does is mostly for samples once tracking is low.
  const double sampling = cost.sampling - before.sampling + cost.drain - before.drain;
  Step step;
  step.overhead = Overhead(before, cost);
  step.tracking = tracking / (cost.program - before.program);
  calm_ = step.overhead < share_ * kFarUnder ? calm_ + 1 : 0;
  bool changed = false;
  ++since_raise_;
  if (step.overhead > share_) {
    step.lower = true;
    if (since_raise_ <= kCalmIntervals) {
      calm_needed_ = std::min(calm_needed_ * 2, kMostCalmIntervals);
    }
    const bool larger = tracking > sampling;
    changed = Lower(larger);
    if (changed && step.overhead > share_ * kFarOver) Lower(larger);
    // At its coarsest the other one may still help, unless nearly nothing is left of it.
    const double other = std::min(tracking, sampling) / (cost.program - before.program);
    changed = changed || (other > share_ * kFarUnder && Lower(!larger));
  } else if (calm_ >= calm_needed_) {
    calm_ = 0;
    changed = Raise();
    if (changed) since_raise_ = 0;
  }
  if (!changed) return std::nullopt;
  ++steps_;
  step.rates = rates_;
  return step;
}

}  // namespace memagent::runtime
