// Compares two views site by site.
#ifndef MEMAGENT_VIEWER_DIFF_H_
#define MEMAGENT_VIEWER_DIFF_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viewer/statistics.h"
#include "viewer/view.h"

namespace memagent::viewer {

// How the two sides of a row were found to be the same site.
enum class MatchedBy { kCallStack, kFunction, kNothing };

struct DiffRow {
  const SiteView* before = nullptr;  // null: new
  const SiteView* after = nullptr;   // null: gone
  MatchedBy matched_by = MatchedBy::kNothing;
  TwoShares samples;  // of each run's memory samples
  TwoShares remote;   // of the site's located samples
  TwoTotals totals;   // weighted with WeightOfSample(); with 1 when the runs' units differ
  Verdict verdict = Verdict::kNotEnoughSamples;

  const SiteView& any() const { return before != nullptr ? *before : *after; }
  double LargerShare() const;
};

struct Diff {
  std::vector<DiffRow> rows;  // largest share in either run first
  // Why the runs can't be compared as they are, a phrase each; empty when they can.
  std::vector<std::string> differences;
  bool same_build = true;  // of the executable, as far as build-ids tell
  uint64_t matched_samples_before = 0;
  uint64_t matched_samples_after = 0;
  size_t matched_by_stack = 0;
  size_t matched_by_function = 0;
  size_t added = 0;
  size_t gone = 0;
};

// Sites are matched by the function names of their whole call stack (lines may move between
// builds), several with the same names in the order of their code; what is left by allocating
// function and kind. The result points into the views.
Diff Compare(const View& before, const View& after);

// What one sample stands for, in the engine's period unit; nothing without an engine.
struct SampleWeight {
  double amount = 1;
  std::string unit;  // "ns": of CPU time
};
std::optional<SampleWeight> WeightOfSample(const View& view);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_DIFF_H_
