// Whether a site that one node's memory served is spread over the nodes that use it now. That does
// not make fewer of its accesses remote, it shares them out over the memory controllers: it is to
// be seen in how much the busiest memory node serves. docs/DECISIONS.md, D35, says why the lines
// are where they are.
#ifndef MEMAGENT_VIEWER_SPREAD_H_
#define MEMAGENT_VIEWER_SPREAD_H_

#include <cstddef>
#include <optional>

#include "viewer/change.h"
#include "viewer/diff_side.h"
#include "viewer/site_use.h"
#include "viewer/thread_pairs.h"
#include "viewer/verdict.h"

namespace memagent::viewer {

// Pages are spread when no node serves so many times its even share.
inline constexpr double kSpread = 1.25;
// So much more remote is a small price for it: where one node makes a little more of the use, its
// memory was a little nearer than all nodes' is.
inline constexpr double kSmallPrice = 0.05;

// How nodes use a site, in all runs of a side.
struct SharedUse {
  NodeSamples by_node;
  size_t users = 0;  // shared_use.h
  double part = 0;   // of all use, what these make

  // The remote share when its pages lie in turn on each of the users.
  double RemoteWhenSpread() const;
};
SharedUse SharedUseOf(const DiffSide& side, const SiteRuns& site);

// How much more, or less, the busiest node would serve if pages lay where they are used, ...
double ExplainedByUse(const SharedUse& before, const SharedUse& after);

// ... and if they lay where they were touched first, by the threads that touched them before, on
// the nodes where these ran after: what comes of threads that ran elsewhere, not of a change of the
// program.
double ExplainedByTouch(const ThreadPairs& threads, const SiteView& before, const SiteView& after);

// Of one site.
struct PlacementChange {
  const Change& remote;
  Verdict remote_verdict;
  const Change& busiest_node;  // share of the located samples that one memory node serves
};

// kFixed, or nothing: pages on few nodes are no fault by themselves.
std::optional<Verdict> JudgeSpread(const PlacementChange& change, const SharedUse& before,
                                   const SharedUse& after);

// One word for the remote share and the spread.
Verdict WithSpread(const Change& remote, Verdict remote_verdict, std::optional<Verdict> spread);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_SPREAD_H_
