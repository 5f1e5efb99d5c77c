#include "viewer/statistics.h"

#include <algorithm>
#include <cmath>

namespace memagent::viewer {
namespace {

constexpr double kZ95 = 1.959963984540054;  // the normal quantile of 0.975

double Hypotenuse(double a, double b) { return std::sqrt(a * a + b * b); }

}  // namespace

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

Interval WilsonInterval(uint64_t part, uint64_t whole, double design_effect) {
  if (whole == 0) return {0, 1};
  const double n = static_cast<double>(whole) / design_effect;
  const double p = std::min(1.0, Share(part, whole));
  const double z2 = kZ95 * kZ95;
  const double centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = kZ95 / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  return {std::clamp(centre - half, 0.0, p), std::clamp(centre + half, p, 1.0)};
}

double HalfWidth(uint64_t part, uint64_t whole, double design_effect) {
  const double p = std::min(1.0, Share(part, whole));
  const Interval interval = WilsonInterval(part, whole, design_effect);
  return std::max(p - interval.low, interval.high - p);
}

// All x with |estimate - x| <= z sqrt(x v), where v is the variance for each unit of the count.
Interval EstimateInterval(double estimate, double variance) {
  if (estimate <= 0 || variance <= 0) return {estimate, estimate};
  const double shift = kZ95 * kZ95 * (variance / estimate) / 2;
  const double half = std::sqrt(shift * shift + kZ95 * kZ95 * variance);
  return {std::max(0.0, estimate + shift - half), estimate + shift + half};
}

Interval DifferenceInterval(const TwoShares& s) {
  if (s.whole_before == 0 || s.whole_after == 0) return {-1, 1};
  const double before = Share(s.part_before, s.whole_before);
  const double after = Share(s.part_after, s.whole_after);
  const Interval b = WilsonInterval(s.part_before, s.whole_before, s.design_effect_before);
  const Interval a = WilsonInterval(s.part_after, s.whole_after, s.design_effect_after);
  const double change = after - before;
  return {std::max(-1.0, change - Hypotenuse(after - a.low, b.high - before)),
          std::min(1.0, change + Hypotenuse(a.high - after, before - b.low))};
}

double TwoTotals::Change() const {
  return weight_after * static_cast<double>(samples_after) -
         weight_before * static_cast<double>(samples_before);
}

Interval ChangeInterval(const TwoTotals& t) {
  const auto deviation = [](double weight, uint64_t samples, double design_effect) {
    return weight * std::sqrt(design_effect * (static_cast<double>(samples) + 1));
  };
  const double half =
      kZ95 * Hypotenuse(deviation(t.weight_before, t.samples_before, t.design_effect_before),
                        deviation(t.weight_after, t.samples_after, t.design_effect_after));
  return {t.Change() - half, t.Change() + half};
}

std::string_view VerdictWord(Verdict verdict) {
  switch (verdict) {
    case Verdict::kBetter:
      return "better";
    case Verdict::kWorse:
      return "worse";
    case Verdict::kSame:
      return "same";
    case Verdict::kNew:
      return "new";
    case Verdict::kGone:
      return "gone";
    case Verdict::kNotEnoughSamples:
      break;
  }
  return "not enough samples";
}

Verdict JudgeChange(const TwoShares& s) {
  const auto few = [](uint64_t samples, double design_effect) {
    return static_cast<double>(samples) < kWeakSamples * design_effect;
  };
  const bool unseen =
      few(s.part_before, s.design_effect_before) && few(s.part_after, s.design_effect_after);
  if (unseen || few(s.whole_before, s.design_effect_before) ||
      few(s.whole_after, s.design_effect_after)) {
    return Verdict::kNotEnoughSamples;
  }
  const Interval change = DifferenceInterval(s);
  if (change.high < 0) return Verdict::kBetter;
  if (change.low > 0) return Verdict::kWorse;
  return Verdict::kSame;
}

Verdict JudgeChange(const TwoShares& shares, const TwoTotals& totals) {
  const Verdict by_share = JudgeChange(shares);
  const Interval change = ChangeInterval(totals);
  if (by_share == Verdict::kBetter && change.high >= 0) return Verdict::kSame;
  if (by_share == Verdict::kWorse && change.low <= 0) return Verdict::kSame;
  return by_share;
}

}  // namespace memagent::viewer
