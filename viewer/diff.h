// Compares runs before and after a change, site by site. One run on each side, or several.
#ifndef MEMAGENT_VIEWER_DIFF_H_
#define MEMAGENT_VIEWER_DIFF_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "viewer/change.h"
#include "viewer/comparable.h"
#include "viewer/diff_side.h"
#include "viewer/verdict.h"
#include "viewer/view.h"

namespace memagent::viewer {

struct DiffRow {
  SiteRuns before;  // all null: new
  SiteRuns after;   // all null: gone
  MatchedBy matched_by = MatchedBy::kNothing;
  bool moved = false;
  Change share;          // of memory samples
  Change latency_share;  // of sampled latency, where hardware tells latencies
  Change latency;        // mean, in cycles
  Change remote;         // of the site's located samples
  Change busiest_node;   // of the same samples, those that one memory node serves: spread.h
  Change amount;         // samples times period; samples when there is none
  Verdict remote_verdict = Verdict::kNotEnoughSamples;
  std::optional<Verdict> spread_verdict;  // kFixed; nothing: no node's memory was too busy, or is
  Verdict cost_verdict = Verdict::kNotEnoughSamples;  // of time, or of latency
  Verdict verdict = Verdict::kNotEnoughSamples;

  const SiteView& any() const { return *(before.first() != nullptr ? before : after).first(); }
  double LargerShare() const;
};

struct MatchCount {
  size_t sites = 0;
  uint64_t samples_before = 0;  // in all runs
  uint64_t samples_after = 0;
};

struct Diff {
  std::vector<DiffRow> rows;  // largest share in either run first
  Comparability comparable;
  bool same_build = true;  // of the executables, as far as build-ids tell
  bool has_latency = false;
  bool has_remote = false;  // nodes can be compared, and there are several
  bool amount_is_time = false;
  bool tells_clumping = true;  // every run keeps single samples
  bool threads_moved = false;  // one run each: the system had put threads on other nodes
  std::array<MatchCount, kMatchedByCount> matched;  // by MatchedBy
  size_t moved_lines = 0;                           // of the matched sites
  size_t added = 0;
  size_t gone = 0;
  Change wall;    // nanoseconds
  Change amount;  // all memory samples times period
  Change latency;
  Change remote;
  Verdict wall_verdict = Verdict::kNotEnoughSamples;
  Verdict latency_verdict = Verdict::kNotEnoughSamples;
  Verdict remote_verdict = Verdict::kNotEnoughSamples;
  size_t tests = 1;  // how many changes are judged together

  // What the share and the verdict of a row's cost are of.
  const Change& CostOf(const DiffRow& row) const {
    return has_latency ? row.latency_share : row.share;
  }
};

Diff Compare(const DiffSide& before, const DiffSide& after);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_DIFF_H_
