#include "viewer/diff.h"

#include <algorithm>
#include <map>
#include <optional>

#include "viewer/run_measures.h"
#include "viewer/side_measures.h"
#include "viewer/spread.h"
#include "viewer/thread_pairs.h"

namespace memagent::viewer {
namespace {

using RunsOfSite = std::map<const SiteView*, const SiteRuns*>;

RunsOfSite RunsByFirst(const std::vector<SiteRuns>& sites) {
  RunsOfSite result;
  for (const SiteRuns& site : sites) result[site.first()] = &site;
  return result;
}

Sites FirstOf(const std::vector<SiteRuns>& sites) {
  Sites result;
  for (const SiteRuns& site : sites) result.push_back(site.first());
  return result;
}

bool Several(const DiffSide& side) { return side.runs.size() > 1; }

LocatedByThread LocatedOf(const View& view) {
  LocatedByThread sum;
  for (const SiteView& site : view.sites) AddLocated(site, sum);
  return sum;
}

bool AllHaveLatency(const DiffSide& side) {
  return std::all_of(side.runs.begin(), side.runs.end(),
                     [](const DiffRun& run) { return run.view->HasLatency(); });
}

bool HasTime(const View& view) {
  const std::optional<SampleWeight> weight = WeightOfSample(view);
  return weight && weight->unit == "ns";
}

std::vector<Measured> WallTimes(const DiffSide& side) {
  std::vector<Measured> values;
  for (const DiffRun& run : side.runs) {
    values.push_back(MeasuredAmount(static_cast<double>(run.view->wall_nanos), std::nullopt));
  }
  return values;
}

// Of few values the mean has no interval: a slow access in a thousand is hardly ever among them.
Change ChangeOfMean(const std::vector<Measured>& before, const std::vector<Measured>& after,
                    size_t tests) {
  Change change = MakeChange(before, after, {static_cast<double>(tests), 0});
  if (!CanJudgeMean(before, after)) change.basis = Basis::kNone;
  return change;
}

class Comparer {
 public:
  Comparer(const DiffSide& before, const DiffSide& after)
      : before_(before), after_(after), b_(before), a_(after) {}

  Diff Run() {
    CompareRuns();
    PairRuns();
    MatchRows();
    CountTests();
    for (DiffRow& row : diff_.rows) Judge(row);
    JudgeTotals();
    std::stable_sort(diff_.rows.begin(), diff_.rows.end(), [](const DiffRow& a, const DiffRow& b) {
      return a.LargerShare() > b.LargerShare();
    });
    return std::move(diff_);
  }

 private:
  void CompareRuns() {
    const View& reference = before_.first();
    bool time = true;
    for (const DiffSide* side : {&before_, &after_}) {
      for (const DiffRun& run : side->runs) {
        diff_.comparable.Add(CompareSettings(reference, *run.view));
        time = time && HasTime(*run.view);
      }
    }
    diff_.same_build = BuildId(reference) == BuildId(after_.first());
    const Comparability& c = diff_.comparable;
    diff_.has_latency = c.shares && AllHaveLatency(before_) && AllHaveLatency(after_);
    diff_.has_remote = c.nodes && (reference.TellsPages() || after_.first().TellsPages());
    diff_.amount_is_time = time && c.shares && c.times;
    diff_.tells_clumping = b_.TellsClumping() && a_.TellsClumping();
  }

  // Each run with one of the other side; where engines differ there is nothing to pair.
  void PairRuns() {
    if (!diff_.comparable.shares) return;
    b_.PairWith(a_);
    a_.PairWith(b_);
    if (Several(before_) || Several(after_) || !diff_.has_remote || !diff_.comparable.threads) {
      return;
    }
    pairs_.emplace(before_.first(), after_.first());
    diff_.threads_moved = pairs_->AnyMoved();
  }

  void MatchRows() {
    const std::vector<SiteRuns> befores = SitesOf(before_);
    const std::vector<SiteRuns> afters = SitesOf(after_);
    // Apart: both sides may be the same views.
    const RunsOfSite before_runs = RunsByFirst(befores);
    const RunsOfSite after_runs = RunsByFirst(afters);
    const bool same_code = IsSameCode(before_, after_);
    for (const SitePair& pair : MatchSites(FirstOf(befores), FirstOf(afters), same_code)) {
      DiffRow& row = diff_.rows.emplace_back();
      if (pair.before != nullptr) row.before = *before_runs.at(pair.before);
      if (pair.after != nullptr) row.after = *after_runs.at(pair.after);
      row.matched_by = pair.how;
      row.moved = pair.moved;
      CountRow(row);
    }
  }

  void CountRow(const DiffRow& row) {
    MatchCount& count = diff_.matched[static_cast<size_t>(row.matched_by)];
    ++count.sites;
    count.samples_before += row.before.Samples();
    count.samples_after += row.after.Samples();
    diff_.moved_lines += row.moved ? 1 : 0;
    diff_.added += row.before.first() == nullptr ? 1 : 0;
    diff_.gone += row.after.first() == nullptr ? 1 : 0;
  }

  using OfSite = SideMeasures::OfSite;

  std::vector<Measured> Before(const DiffRow& row, OfSite method) const {
    return b_.Values(method, row.before, row.after, a_);
  }
  std::vector<Measured> After(const DiffRow& row, OfSite method) const {
    return a_.Values(method, row.after, row.before, b_);
  }

  bool JudgesCost(const DiffRow& row) const {
    return diff_.comparable.shares && CanJudgePart(Before(row, &RunMeasures::PlainShare),
                                                   After(row, &RunMeasures::PlainShare));
  }

  bool JudgesRemote(const DiffRow& row) const {
    return diff_.has_remote && diff_.comparable.shares &&
           CanJudgeWhole(Before(row, &RunMeasures::PlainRemote),
                         After(row, &RunMeasures::PlainRemote));
  }

  SharedUse UseBefore(const DiffRow& row) const { return SharedUseOf(before_, row.before); }
  SharedUse UseAfter(const DiffRow& row) const { return SharedUseOf(after_, row.after); }

  // How far its memory is spread matters where several nodes use it.
  bool JudgesSpread(const DiffRow& row) const {
    return JudgesRemote(row) && UseBefore(row).users > 1 && UseAfter(row).users > 1;
  }

  void CountTests() {
    size_t tests = 0;
    for (const DiffRow& row : diff_.rows) {
      tests += JudgesCost(row) + JudgesRemote(row) + JudgesSpread(row);
    }
    diff_.tests = std::max<size_t>(1, tests + (diff_.has_remote ? 1 : 0));
  }

  Change ChangeOf(const DiffRow& row, OfSite method, double placement = 0) const {
    return MakeChange(Before(row, method), After(row, method),
                      {static_cast<double>(diff_.tests), placement});
  }

  double PlacementOf(const DiffRow& row) const {
    if (!pairs_ || row.before.first() == nullptr || row.after.first() == nullptr) return 0;
    LocatedByThread before;
    LocatedByThread after;
    AddLocated(*row.before.first(), before);
    AddLocated(*row.after.first(), after);
    return pairs_->PlacementDeviation(before, after);
  }

  // Where pages lie on the node of the thread that touches them first, threads that ran elsewhere
  // took theirs with them. Who touched is known from page faults; without any, use has to do.
  double MovedPages(const DiffRow& row) const {
    const bool stayed = pairs_ && !diff_.threads_moved;
    const double use = stayed ? 0 : ExplainedByUse(UseBefore(row), UseAfter(row));
    if (!pairs_ || row.before.first() == nullptr || row.after.first() == nullptr) return use;
    return std::max(use, ExplainedByTouch(*pairs_, *row.before.first(), *row.after.first()));
  }

  void Judge(DiffRow& row) {
    row.share = ChangeOf(row, &RunMeasures::ShareOfSamples);
    row.amount = ChangeOf(row, &RunMeasures::Amount);
    if (diff_.has_latency) {
      row.latency_share = ChangeOf(row, &RunMeasures::ShareOfLatency);
      row.latency = ChangeOfMean(Before(row, &RunMeasures::Latency),
                                 After(row, &RunMeasures::Latency), diff_.tests);
    }
    if (diff_.has_remote) {
      row.remote = ChangeOf(row, &RunMeasures::Remote, PlacementOf(row));
      row.busiest_node = ChangeOf(row, &RunMeasures::BusiestNode, MovedPages(row));
    }
    if (!diff_.comparable.shares) {
      row.verdict = row.remote_verdict = row.cost_verdict = Verdict::kNotComparable;
      return;
    }
    const bool judges_cost = JudgesCost(row);
    if (judges_cost) row.cost_verdict = CostVerdict(row);
    if (JudgesRemote(row)) row.remote_verdict = JudgeRemote(row.remote);
    if (JudgesSpread(row)) {
      row.spread_verdict = JudgeSpread({row.remote, row.remote_verdict, row.busiest_node},
                                       UseBefore(row), UseAfter(row));
    }
    row.verdict =
        Together(WithSpread(row.remote, row.remote_verdict, row.spread_verdict), row.cost_verdict);
    if (!judges_cost) return;
    if (row.before.first() == nullptr) row.verdict = Verdict::kNew;
    if (row.after.first() == nullptr) row.verdict = Verdict::kGone;
  }

  // Where times of the runs don't compare, the share alone has to do.
  Verdict CostVerdict(const DiffRow& row) const {
    if (!diff_.comparable.times) return JudgeShare(diff_.CostOf(row));
    if (!diff_.has_latency) return JudgeCost(row.share, row.amount);
    return JudgeCost(row.latency_share, ChangeOf(row, &RunMeasures::SumOfLatency));
  }

  void JudgeTotals() {
    const ChangeTerms alone;
    diff_.wall = MakeChange(WallTimes(before_), WallTimes(after_), alone);
    diff_.wall_verdict = JudgeAmount(diff_.wall);
    diff_.amount = MakeChange(b_.ValuesOfAll(&RunMeasures::AmountOfAll),
                              a_.ValuesOfAll(&RunMeasures::AmountOfAll), alone);
    if (diff_.has_latency && diff_.comparable.times) {
      diff_.latency = ChangeOfMean(b_.ValuesOfAll(&RunMeasures::LatencyOfAll),
                                   a_.ValuesOfAll(&RunMeasures::LatencyOfAll), 1);
      diff_.latency_verdict = JudgeAmount(diff_.latency);
    }
    if (!diff_.has_remote) return;
    double placement = 0;
    if (pairs_) {
      placement = pairs_->PlacementDeviation(LocatedOf(before_.first()), LocatedOf(after_.first()));
    }
    const std::vector<Measured> before = b_.ValuesOfAll(&RunMeasures::RemoteOfAll);
    const std::vector<Measured> after = a_.ValuesOfAll(&RunMeasures::RemoteOfAll);
    diff_.remote = MakeChange(before, after, {static_cast<double>(diff_.tests), placement});
    if (CanJudgeWhole(before, after)) diff_.remote_verdict = JudgeRemote(diff_.remote);
  }

  const DiffSide& before_;
  const DiffSide& after_;
  SideMeasures b_;
  SideMeasures a_;
  std::optional<ThreadPairs> pairs_;
  Diff diff_;
};

}  // namespace

double DiffRow::LargerShare() const {
  return std::max({share.before.value_or(0), share.after.value_or(0),
                   latency_share.before.value_or(0), latency_share.after.value_or(0)});
}

Diff Compare(const DiffSide& before, const DiffSide& after) {
  return Comparer(before, after).Run();
}

}  // namespace memagent::viewer
