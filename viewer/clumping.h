// How clumped samples are in time: neighbours in one thread hit the same loop, so a share of them
// varies more than a share of independent draws. Measured on the single samples that a profile
// keeps, thread by thread, in two runs of one program.
#ifndef MEMAGENT_VIEWER_CLUMPING_H_
#define MEMAGENT_VIEWER_CLUMPING_H_

#include <cstddef>
#include <vector>

namespace memagent::viewer {

// What each kept sample adds to the error of a ratio sum(y) / sum(x), which is (y - ratio * x) /
// sum(x): by thread, in the order of time.
using Residuals = std::vector<std::vector<double>>;

struct Clumping {
  double kept = 0;    // samples of the run
  double within = 0;  // part of their variance that is inside threads, 0 to 1; the rest is between
  // Variance of sums over stretches of a thread, against that of as many independent samples; 1
  // also when there are too few samples to say.
  double inflation = 1;
  double chance_error = 0;  // standard error of that when samples are not clumped
  size_t differences = 0;   // that it was found from; 0: nothing is known of clumping
};

// `other`: the same threads in another run, in the same places; empty for a thread without one.
// Each thread's samples are cut into stretches of equal number, the same stretches of both runs are
// subtracted, and what is left of neighbouring stretches is compared. So what is the program's does
// not count as chance: that a thread is remote as a whole, that it first reads and then computes.
// Clumps much longer than a stretch do not show.
Clumping ClumpingOf(const Residuals& own, const Residuals& other);

// How much more a ratio varies that `samples` samples were counted for, than one of independent
// samples. The kept ones are a choice of them, and the fewer are kept, the less clumped they are.
double ClumpedDesignEffect(const Clumping& clumping, double samples);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_CLUMPING_H_
