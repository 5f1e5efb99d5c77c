// What the runs of one side of a diff say, run by run; and whether that is enough to judge by.
#ifndef MEMAGENT_VIEWER_SIDE_MEASURES_H_
#define MEMAGENT_VIEWER_SIDE_MEASURES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "viewer/change.h"
#include "viewer/diff_side.h"
#include "viewer/run_measures.h"

namespace memagent::viewer {

// Of the runs of a side whose views must outlive it.
class SideMeasures {
 public:
  using OfSite = Measured (RunMeasures::*)(const SiteInRuns&) const;
  using OfRun = Measured (RunMeasures::*)() const;

  explicit SideMeasures(const DiffSide& side);

  // Each run with one of the other side, which must outlive this one.
  void PairWith(const SideMeasures& others);

  // One quantity of one site in every run; `other`: the same site on the other side.
  std::vector<Measured> Values(OfSite method, const SiteRuns& own, const SiteRuns& other,
                               const SideMeasures& others) const;
  std::vector<Measured> ValuesOfAll(OfRun method) const;

  // Whether every run keeps enough single samples to see how clumped they are.
  bool TellsClumping() const;

 private:
  std::vector<std::unique_ptr<RunMeasures>> runs_;
};

// A share of the runs can be judged when they have samples, and the site some in one of them.
bool CanJudgePart(const std::vector<Measured>& before, const std::vector<Measured>& after);
// A share of the site's own samples needs them on both sides.
bool CanJudgeWhole(const std::vector<Measured>& before, const std::vector<Measured>& after);
// So does a mean over them.
bool CanJudgeMean(const std::vector<Measured>& before, const std::vector<Measured>& after);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_SIDE_MEASURES_H_
