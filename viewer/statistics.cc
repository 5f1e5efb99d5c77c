#include "viewer/statistics.h"

#include <algorithm>
#include <cmath>

namespace memagent::viewer {

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

Interval WilsonInterval(uint64_t part, uint64_t whole, double design_effect, double z) {
  if (whole == 0) return {0, 1};
  const double n = static_cast<double>(whole) / design_effect;
  const double p = std::min(1.0, Share(part, whole));
  const double z2 = z * z;
  const double centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = z / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
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

Interval DifferenceInterval(double before, const Interval& b, double after, const Interval& a) {
  const double change = after - before;
  return {change - std::hypot(after - a.low, b.high - before),
          change + std::hypot(a.high - after, before - b.low)};
}

}  // namespace memagent::viewer
