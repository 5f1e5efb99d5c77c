#include "viewer/clumping.h"

#include <algorithm>
#include <cmath>

#include "viewer/quantiles.h"

namespace memagent::viewer {
namespace {

using Values = std::vector<double>;

constexpr size_t kWantedStretches = 16;  // in all threads: D35 says what fewer and more would do
constexpr size_t kFewestStretches = 3;   // of a thread
constexpr size_t kFewestSamples = 4 * kFewestStretches;

bool IsLongEnough(const Values& values) { return values.size() >= kFewestSamples; }

// Sums over stretches of equal number. The last samples, fewer than there are stretches, are left
// out.
Values Stretches(const Values& values, size_t count) {
  const size_t length = values.size() / count;
  Values sums(count);
  for (size_t i = 0; i < count * length; ++i) sums[i / length] += values[i];
  return sums;
}

// Variance of the sum of the samples that Stretches() takes, if they were independent.
double IndependentVariance(const Values& values, size_t count) {
  const size_t taken = values.size() / count * count;
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < taken; ++i) {
    sum += values[i];
    squares += values[i] * values[i];
  }
  const auto n = static_cast<double>(taken);
  const double spread = squares - sum * sum / n;
  constexpr double kRounding = 1e-12;
  return spread <= kRounding * squares ? 0 : spread * n / (n - 1);
}

// Half the squared differences of neighbours: K. M. Wolter's estimator v2 for systematic samples
// (JASA 79, 1984).
double ClumpedVariance(const Values& stretches) {
  double sum = 0;
  for (size_t i = 1; i < stretches.size(); ++i) {
    sum += (stretches[i] - stretches[i - 1]) * (stretches[i] - stretches[i - 1]) / 2;
  }
  const auto count = static_cast<double>(stretches.size());
  return sum * count / (count - 1);
}

double PartWithin(const Residuals& residuals) {
  double all = 0;
  double between = 0;
  for (const Values& values : residuals) {
    double sum = 0;
    for (const double value : values) {
      sum += value;
      all += value * value;
    }
    if (!values.empty()) between += sum * sum / static_cast<double>(values.size());
  }
  return all > 0 ? std::clamp(1 - between / all, 0.0, 1.0) : 0;
}

}  // namespace

Clumping ClumpingOf(const Residuals& own, const Residuals& other) {
  Clumping result;
  size_t threads = 0;
  for (const Values& values : own) {
    result.kept += static_cast<double>(values.size());
    threads += IsLongEnough(values) ? 1 : 0;
  }
  if (threads == 0) return result;
  result.within = PartWithin(own);
  double clumped = 0;
  double independent = 0;
  for (size_t thread = 0; thread < own.size(); ++thread) {
    if (!IsLongEnough(own[thread])) continue;
    const bool paired = thread < other.size() && IsLongEnough(other[thread]);
    const size_t fewest =
        paired ? std::min(own[thread].size(), other[thread].size()) : own[thread].size();
    const size_t count =
        std::min(std::max(kFewestStretches, kWantedStretches / threads), fewest / 2);
    double here = IndependentVariance(own[thread], count);
    Values stretches = Stretches(own[thread], count);
    if (paired) {
      here += IndependentVariance(other[thread], count);
      const Values others = Stretches(other[thread], count);
      for (size_t i = 0; i < count; ++i) stretches[i] -= others[i];
    }
    if (here <= 0) continue;  // all its samples are the same: says nothing
    independent += here;
    clumped += ClumpedVariance(stretches);
    result.differences += count - 1;
  }
  if (independent <= 0) return result;
  result.inflation = clumped / independent;
  // Squared differences of neighbours are worth 2/3 of their number as degrees of freedom.
  result.chance_error = std::sqrt(3 / static_cast<double>(result.differences));
  return result;
}

double ClumpedDesignEffect(const Clumping& c, double samples) {
  if (c.differences == 0 || c.kept <= 0) return 1;
  const double thinning = std::max(1.0, samples / c.kept);
  // What is seen through few of the samples is multiplied: then only what is beyond chance counts.
  const double excess = c.inflation - 1 - (1 - 1 / thinning) * c.chance_error;
  if (excess <= 0) return 1;
  // How far Student's bound is beyond the normal one, at a level that verdicts are given at.
  constexpr double kTail = 0.0025;
  const double degrees = 2 * static_cast<double>(c.differences) / 3;
  const double t = StudentBound(kTail, degrees) / NormalBound(kTail);
  return 1 + excess * t * t * c.within * thinning;
}

}  // namespace memagent::viewer
