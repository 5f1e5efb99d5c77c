#include "viewer/change.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace memagent::viewer {
namespace {

// The runs of one side together.
struct Side {
  std::vector<Measured> told;  // the runs that tell
  double mean = 0;
  double variance = 0;   // between the runs; 0 with one
  bool sampled = false;  // sampling says something of it

  double runs() const { return static_cast<double>(told.size()); }

  // Of the mean: errors of runs are independent.
  Interval At(double z) const {
    double low = 0;
    double high = 0;
    for (const Measured& run : told) {
      const Interval one = run.At(z);
      low = std::hypot(low, *run.value - one.low);
      high = std::hypot(high, one.high - *run.value);
    }
    return {mean - low / runs(), mean + high / runs()};
  }
};

Side MakeSide(const std::vector<Measured>& runs) {
  Side side;
  for (const Measured& run : runs) {
    if (run.value) side.told.push_back(run);
  }
  if (side.told.empty()) return side;
  side.sampled = true;
  for (const Measured& run : side.told) {
    side.mean += *run.value / side.runs();
    side.sampled = side.sampled && (run.whole > 0 || run.deviation.has_value());
  }
  if (side.told.size() < 2) return side;
  for (const Measured& run : side.told) {
    const double off = *run.value - side.mean;
    side.variance += off * off / (side.runs() - 1);
  }
  return side;
}

// Variance of after - before from how much the runs differ, and its degrees of freedom.
struct BetweenRuns {
  double variance = 0;
  double degrees = 0;  // 0: one run on each side
};

BetweenRuns Between(const Side& b, const Side& a) {
  const double more_b = b.runs() - 1;
  const double more_a = a.runs() - 1;
  if (more_b > 0 && more_a > 0) {
    const double vb = b.variance / b.runs();
    const double va = a.variance / a.runs();
    const double spread = vb * vb / more_b + va * va / more_a;
    // With as many runs on both sides Student's interval bears unlike variances well, and Welch's
    // would be much wider for so few (B. L. Welch, Biometrika 34, 1947, is for unlike numbers).
    if (more_b == more_a || spread <= 0) return {vb + va, more_b + more_a};
    return {vb + va, (vb + va) * (vb + va) / spread};
  }
  if (more_b <= 0 && more_a <= 0) return {};
  // The side with one run is taken to vary as the other one does.
  const double each = 1 / b.runs() + 1 / a.runs();
  return {std::max(b.variance, a.variance) * each, std::max(more_b, more_a)};
}

Interval IntervalAt(const Side& b, const Side& a, const ChangeTerms& terms, double tail) {
  const double change = a.mean - b.mean;
  Interval result = {change, change};
  if (b.sampled && a.sampled) {
    const double z = NormalBound(tail);
    result = DifferenceInterval(b.mean, b.At(z), a.mean, a.At(z));
    if (b.told.size() == 1 && a.told.size() == 1) {
      const double more = z * terms.placement_deviation;
      result = {change - std::hypot(change - result.low, more),
                change + std::hypot(result.high - change, more)};
    }
  }
  const BetweenRuns between = Between(b, a);
  if (between.degrees <= 0) return result;
  const double half = StudentBound(tail, between.degrees) * std::sqrt(between.variance);
  return {std::min(result.low, change - half), std::max(result.high, change + half)};
}

Basis BasisOf(const Side& b, const Side& a, const ChangeTerms& terms, const Interval& interval) {
  const bool several = b.told.size() > 1 || a.told.size() > 1;
  if (!b.sampled || !a.sampled) return several ? Basis::kRuns : Basis::kNone;
  if (!several) return terms.placement_deviation > 0 ? Basis::kPlacement : Basis::kSampling;
  const Interval sampling = DifferenceInterval(b.mean, b.At(kZ95), a.mean, a.At(kZ95));
  constexpr double kRounding = 1e-12;
  return interval.low < sampling.low - kRounding ? Basis::kRuns : Basis::kSampling;
}

uint64_t Samples(const Side& side) {
  uint64_t sum = 0;
  for (const Measured& run : side.told) {
    if (__builtin_add_overflow(sum, run.part, &sum)) return UINT64_MAX;  // a damaged file
  }
  return sum;
}

}  // namespace

Interval Measured::At(double z) const {
  const double v = value.value_or(0);
  if (whole == 0) {
    const double half = z * deviation.value_or(0);
    return {v - half, v + half};
  }
  const Interval wilson = WilsonInterval(part, whole, design_effect, z);
  return {std::min(wilson.low, v), std::max(wilson.high, v)};
}

Measured MeasuredShare(uint64_t part, uint64_t whole, double design_effect) {
  Measured result;
  if (whole == 0) return result;
  result.part = std::min(part, whole);
  result.whole = whole;
  result.value = Share(result.part, whole);
  result.design_effect = design_effect;
  return result;
}

Measured MeasuredAmount(double value, std::optional<double> deviation) {
  Measured result;
  result.value = value;
  result.deviation = deviation;
  return result;
}

double Change::HalfWidth() const {
  return std::max(Value() - interval.low, interval.high - Value());
}

Change MakeChange(const std::vector<Measured>& before, const std::vector<Measured>& after,
                  const ChangeTerms& terms) {
  constexpr double kTail = 0.025;
  const Side b = MakeSide(before);
  const Side a = MakeSide(after);
  Change change;
  change.samples_before = Samples(b);
  change.samples_after = Samples(a);
  if (!b.told.empty()) {
    change.before = b.mean;
    change.before_interval = b.At(kZ95);
  }
  if (!a.told.empty()) {
    change.after = a.mean;
    change.after_interval = a.At(kZ95);
  }
  if (!change.IsKnown()) return change;
  change.interval = IntervalAt(b, a, terms, kTail);
  change.judged = terms.tests > 1 ? IntervalAt(b, a, terms, kTail / terms.tests) : change.interval;
  change.basis = BasisOf(b, a, terms, change.interval);
  return change;
}

}  // namespace memagent::viewer
