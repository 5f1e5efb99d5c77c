#include "viewer/quantiles.h"

#include <algorithm>
#include <cmath>

namespace memagent::viewer {
namespace {

constexpr double kTiny = 1e-300;
constexpr int kHalvings = 80;  // of a range: more than a double has digits

double KeepFromZero(double value) { return std::fabs(value) < kTiny ? kTiny : value; }

// The continued fraction of the incomplete beta function, by Lentz's method (NIST DLMF 8.17.22).
double BetaFraction(double x, double a, double b) {
  constexpr int kMostTerms = 300;
  constexpr double kEnough = 1e-12;
  double c = 1;
  double d = 1 / KeepFromZero(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double step = 1;
    for (const double term : {even, odd}) {
      d = 1 / KeepFromZero(1 + term * d);
      c = KeepFromZero(1 + term / c);
      step = c * d;
      result *= step;
    }
    if (std::fabs(step - 1) < kEnough) break;
  }
  return result;
}

// The regularised incomplete beta function I_x(a, b).
double IncompleteBeta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - IncompleteBeta(1 - x, b, a);
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return front * BetaFraction(x, a, b) / a;
}

double StudentTail(double t, double degrees) {
  return IncompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
}

double NormalTail(double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }

// Where a falling function of t >= 0 reaches `tail`.
template <typename Tail>
double Solve(Tail tail_of, double tail) {
  constexpr double kLargest = 1e12;
  double high = 1;
  while (tail_of(high) > tail && high < kLargest) high *= 2;
  double low = high / 2;
  if (tail_of(low) < tail) low = 0;
  for (int i = 0; i < kHalvings && high - low > 1e-10 * high; ++i) {
    const double middle = (low + high) / 2;
    (tail_of(middle) > tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double NormalBound(double tail) { return Solve(NormalTail, tail); }

double StudentBound(double tail, double degrees) {
  constexpr double kAsGoodAsNormal = 1e6;
  if (!(degrees < kAsGoodAsNormal)) return NormalBound(tail);
  const double v = std::max(1.0, degrees);
  return Solve([v](double t) { return StudentTail(t, v); }, tail);
}

}  // namespace memagent::viewer
