// Intervals for shares of samples. Where nothing else is said they are 95 % intervals that treat
// samples as independent draws; `design_effect` says how much more real ones vary (clumping.h).
#ifndef MEMAGENT_VIEWER_STATISTICS_H_
#define MEMAGENT_VIEWER_STATISTICS_H_

#include <cstdint>

#include "viewer/quantiles.h"

namespace memagent::viewer {

// Below this many samples a share is marked as weak, and a change is not judged.
inline constexpr uint64_t kWeakSamples = 30;

struct Interval {
  double low = 0;
  double high = 1;
};

// part / whole; 0 when whole is 0.
double Share(uint64_t part, uint64_t whole);

// Wilson's score interval of a proportion (E. B. Wilson, JASA 22, 1927): unlike p +- 1.96 s it
// stays inside [0, 1] and says something for 0 of n. [0, 1] when whole is 0: nothing is known.
// `design_effect`: how much more such counts vary than counts of independent samples of one weight
// do (L. Kish, Survey Sampling, 1965). `z`: the level, as a bound of the normal distribution.
Interval WilsonInterval(uint64_t part, uint64_t whole, double design_effect = 1, double z = kZ95);

// The larger distance from the share to an end of its Wilson interval: an honest "+-".
double HalfWidth(uint64_t part, uint64_t whole, double design_effect = 1);

// Interval of a count that was estimated with that variance of its error, which grows with the
// count: the score interval, as Wilson's is for a proportion. Never below 0.
Interval EstimateInterval(double estimate, double variance);

// Interval of after - before from their own intervals of the same level, when their errors are
// independent: with Wilson's this is R. G. Newcombe's method 10 (Statistics in Medicine 17, 1998).
Interval DifferenceInterval(double before, const Interval& before_interval, double after,
                            const Interval& after_interval);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_STATISTICS_H_
