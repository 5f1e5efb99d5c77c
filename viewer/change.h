// One quantity measured in the runs before and after a change, and how far it can be told from
// chance.
//
// With one run on each side only the sampling is known to vary. With several on a side the runs
// themselves show how much they differ: the wider of the two intervals is taken.
#ifndef MEMAGENT_VIEWER_CHANGE_H_
#define MEMAGENT_VIEWER_CHANGE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "viewer/statistics.h"

namespace memagent::viewer {

// A quantity of one run: a share, or an amount (time, cycles).
struct Measured {
  std::optional<double> value;  // nothing: this run can't tell
  // Of a share: what it is a share of, in samples. `whole` 0: it is an amount.
  uint64_t part = 0;
  uint64_t whole = 0;
  double design_effect = 1;
  // Of an amount: the standard error that sampling leaves; nothing: one run says nothing of it.
  std::optional<double> deviation;

  Interval At(double z) const;
};

// The run can't tell when `whole` is 0.
Measured MeasuredShare(uint64_t part, uint64_t whole, double design_effect);
Measured MeasuredAmount(double value, std::optional<double> deviation);

// What the interval of a change stands on.
enum class Basis {
  kNone,       // one run on each side, of a quantity that sampling says nothing of
  kSampling,   // one run on each side
  kPlacement,  // the same, and the system had put threads elsewhere
  kRuns,       // several runs, which differ by more than sampling explains
};

struct Change {
  std::optional<double> before;  // mean over the runs that tell; nothing: none does
  std::optional<double> after;
  Interval before_interval;  // 95 %, from sampling
  Interval after_interval;
  Basis basis = Basis::kNone;  // kNone: there is no interval of the change
  Interval interval;           // 95 % interval of after - before
  // The same, so wide that of all changes judged together at most 5 % of unchanged programs show
  // one (Bonferroni): what verdicts go by.
  Interval judged;
  uint64_t samples_before = 0;  // of the part, in all runs
  uint64_t samples_after = 0;

  bool IsKnown() const { return before.has_value() && after.has_value(); }
  bool HasInterval() const { return IsKnown() && basis != Basis::kNone; }
  double Value() const { return after.value_or(0) - before.value_or(0); }
  // The larger distance from the change to an end of its interval.
  double HalfWidth() const;
};

struct ChangeTerms {
  double tests = 1;                // how many changes are judged together
  double placement_deviation = 0;  // thread_pairs.h; counts with one run on each side
};

// Runs that can't tell are left out.
Change MakeChange(const std::vector<Measured>& before, const std::vector<Measured>& after,
                  const ChangeTerms& terms = {});

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_CHANGE_H_
