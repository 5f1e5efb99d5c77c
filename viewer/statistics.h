// Intervals for shares of samples, and what may be said about a change between two runs.
//
// All intervals are 95 %, and treat samples as independent draws. Samples of one program are not
// quite independent (neighbours in time hit the same loop), so a real interval is somewhat wider;
// docs/JSON.md says so to the reader.
#ifndef MEMAGENT_VIEWER_STATISTICS_H_
#define MEMAGENT_VIEWER_STATISTICS_H_

#include <cstdint>
#include <string_view>

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
// `design_effect`: how much more such counts vary than counts of single samples do, because samples
// of different weight are in them (L. Kish, Survey Sampling, 1965).
Interval WilsonInterval(uint64_t part, uint64_t whole, double design_effect = 1);

// The larger distance from the share to an end of its Wilson interval: an honest "+-".
double HalfWidth(uint64_t part, uint64_t whole, double design_effect = 1);

// Interval of a count that was estimated with that variance of its error, which grows with the
// count: the score interval, as Wilson's is for a proportion. Never below 0.
Interval EstimateInterval(double estimate, double variance);

// One share measured in two runs.
struct TwoShares {
  uint64_t part_before = 0;
  uint64_t whole_before = 0;
  uint64_t part_after = 0;
  uint64_t whole_after = 0;
  double design_effect_before = 1;
  double design_effect_after = 1;
};

// Interval of share(after) - share(before), from the two Wilson intervals (R. G. Newcombe,
// Statistics in Medicine 17, 1998, method 10). [-1, 1] when a run has no samples.
Interval DifferenceInterval(const TwoShares& shares);

// Samples of one thing in two runs, and what one sample stands for in each (CPU time, accesses).
struct TwoTotals {
  uint64_t samples_before = 0;
  double weight_before = 1;
  uint64_t samples_after = 0;
  double weight_after = 1;
  double design_effect_before = 1;
  double design_effect_after = 1;

  double Change() const;  // in units of weight
};

// Interval of Change(): counts of samples vary as Poisson counts do. One is added to each variance
// so that a count of 0 is not taken for certain.
Interval ChangeInterval(const TwoTotals& totals);

enum class Verdict { kBetter, kWorse, kSame, kNew, kGone, kNotEnoughSamples };
std::string_view VerdictWord(Verdict verdict);

// Smaller is better. kSame means that no change can be told from chance (the interval holds 0).
// kNotEnoughSamples: neither run has kWeakSamples of it, or one of the runs has too few as a whole.
Verdict JudgeChange(const TwoShares& shares);

// The same for a part of a whole that may have changed, too: better or worse only when the share
// and the total agree. A share alone grows when others shrink; a total alone grows when a run is
// longer.
Verdict JudgeChange(const TwoShares& shares, const TwoTotals& totals);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_STATISTICS_H_
