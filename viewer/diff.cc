#include "viewer/diff.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "viewer/concat.h"
#include "viewer/run_measures.h"
#include "viewer/thread_pairs.h"

namespace memagent::viewer {
namespace {

using Measures = std::vector<std::unique_ptr<RunMeasures>>;

Measures MeasureAll(const DiffSide& side) {
  Measures measures;
  for (const DiffRun& run : side.runs) measures.push_back(std::make_unique<RunMeasures>(*run.view));
  return measures;
}

// The sites of several runs of one program, each with its sites in all of them.
std::vector<SiteRuns> SitesOf(const DiffSide& side) {
  std::vector<SiteRuns> all;
  for (size_t run = 0; run < side.runs.size(); ++run) {
    Sites known;
    std::map<const SiteView*, size_t> place;
    for (size_t i = 0; i < all.size(); ++i) {
      known.push_back(all[i].first());
      place[known.back()] = i;
    }
    for (const SitePair& pair : MatchSites(known, AllSites(*side.runs[run].view))) {
      if (pair.before == nullptr) {
        all.emplace_back().runs.resize(run);
        all.back().runs.push_back(pair.after);
      } else {
        all[place[pair.before]].runs.push_back(pair.after);
      }
    }
  }
  return all;
}

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

// The run of the other side that is compared with run `i`.
size_t PartnerOf(size_t i, size_t others) { return std::min(i, others - 1); }

const SiteView* SiteIn(const SiteRuns& site, size_t run) {
  return run < site.runs.size() ? site.runs[run] : nullptr;
}

// One quantity of one site in every run of a side.
template <typename Method>
std::vector<Measured> Values(const Measures& measures, size_t others, const SiteRuns& own,
                             const SiteRuns& other, Method method) {
  std::vector<Measured> values;
  for (size_t i = 0; i < measures.size(); ++i) {
    const SiteInRuns site = {SiteIn(own, i), SiteIn(other, PartnerOf(i, others))};
    values.push_back((measures[i].get()->*method)(site));
  }
  return values;
}

template <typename Method>
std::vector<Measured> ValuesOfAll(const Measures& measures, Method method) {
  std::vector<Measured> values;
  for (const auto& run : measures) values.push_back((run.get()->*method)());
  return values;
}

std::vector<Measured> WallTimes(const DiffSide& side) {
  std::vector<Measured> values;
  for (const DiffRun& run : side.runs) {
    values.push_back(MeasuredAmount(static_cast<double>(run.view->wall_nanos), std::nullopt));
  }
  return values;
}

// Samples of the part and of the whole in all runs, as if each had weight 1.
struct Support {
  double part = 0;
  double whole = 0;
};

Support SupportOf(const std::vector<Measured>& runs) {
  Support support;
  for (const Measured& run : runs) {
    support.part += static_cast<double>(run.part) / run.design_effect;
    support.whole += static_cast<double>(run.whole) / run.design_effect;
  }
  return support;
}

// A share of the runs can be judged when they have samples, and the site some in one of them.
bool CanJudgePart(const std::vector<Measured>& before, const std::vector<Measured>& after) {
  const Support b = SupportOf(before);
  const Support a = SupportOf(after);
  return std::min(b.whole, a.whole) >= kWeakSamples && std::max(b.part, a.part) >= kWeakSamples;
}

// A share of the site's own samples needs them on both sides.
bool CanJudgeWhole(const std::vector<Measured>& before, const std::vector<Measured>& after) {
  return std::min(SupportOf(before).whole, SupportOf(after).whole) >= kWeakSamples;
}

void PairSide(Measures& side, const Measures& others) {
  for (size_t i = 0; i < side.size(); ++i) {
    const RunMeasures& other = *others[PartnerOf(i, others.size())];
    const ThreadPairs pairs(side[i]->view(), other.view());
    std::map<uint32_t, uint32_t> threads;
    for (const ThreadPairs::Pair& pair : pairs.pairs()) threads[pair.before] = pair.after;
    side[i]->PairWith(other, threads);
  }
}

class Comparer {
 public:
  Comparer(const DiffSide& before, const DiffSide& after)
      : before_(before), after_(after), b_(MeasureAll(before)), a_(MeasureAll(after)) {}

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
    for (const Measures* side : {&b_, &a_}) {
      for (const auto& run : *side) diff_.tells_clumping &= run->TellsClumping();
    }
  }

  // Each run with one of the other side; where engines differ there is nothing to pair.
  void PairRuns() {
    if (!diff_.comparable.shares) return;
    PairSide(b_, a_);
    PairSide(a_, b_);
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
    for (const SitePair& pair : MatchSites(FirstOf(befores), FirstOf(afters))) {
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

  template <typename Method>
  std::vector<Measured> Before(const DiffRow& row, Method method) const {
    return Values(b_, a_.size(), row.before, row.after, method);
  }
  template <typename Method>
  std::vector<Measured> After(const DiffRow& row, Method method) const {
    return Values(a_, b_.size(), row.after, row.before, method);
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

  void CountTests() {
    size_t tests = 0;
    for (const DiffRow& row : diff_.rows) tests += JudgesCost(row) + JudgesRemote(row);
    diff_.tests = std::max<size_t>(1, tests + (diff_.has_remote ? 1 : 0));
  }

  template <typename Method>
  Change ChangeOf(const DiffRow& row, Method method, double placement = 0) const {
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

  void Judge(DiffRow& row) {
    row.share = ChangeOf(row, &RunMeasures::ShareOfSamples);
    row.amount = ChangeOf(row, &RunMeasures::Amount);
    if (diff_.has_latency) {
      row.latency_share = ChangeOf(row, &RunMeasures::ShareOfLatency);
      row.latency = ChangeOf(row, &RunMeasures::Latency);
    }
    if (diff_.has_remote) row.remote = ChangeOf(row, &RunMeasures::Remote, PlacementOf(row));
    if (!diff_.comparable.shares) {
      row.verdict = row.remote_verdict = row.cost_verdict = Verdict::kNotComparable;
      return;
    }
    const bool judges_cost = JudgesCost(row);
    if (judges_cost) row.cost_verdict = CostVerdict(row);
    if (JudgesRemote(row)) row.remote_verdict = JudgeRemote(row.remote);
    row.verdict = Together(row.remote_verdict, row.cost_verdict);
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
    diff_.amount = MakeChange(ValuesOfAll(b_, &RunMeasures::AmountOfAll),
                              ValuesOfAll(a_, &RunMeasures::AmountOfAll), alone);
    if (diff_.has_latency && diff_.comparable.times) {
      diff_.latency = MakeChange(ValuesOfAll(b_, &RunMeasures::LatencyOfAll),
                                 ValuesOfAll(a_, &RunMeasures::LatencyOfAll), alone);
      diff_.latency_verdict = JudgeAmount(diff_.latency);
    }
    if (!diff_.has_remote) return;
    double placement = 0;
    if (pairs_) {
      placement = pairs_->PlacementDeviation(LocatedOf(before_.first()), LocatedOf(after_.first()));
    }
    const std::vector<Measured> before = ValuesOfAll(b_, &RunMeasures::RemoteOfAll);
    const std::vector<Measured> after = ValuesOfAll(a_, &RunMeasures::RemoteOfAll);
    diff_.remote = MakeChange(before, after, {static_cast<double>(diff_.tests), placement});
    if (CanJudgeWhole(before, after)) diff_.remote_verdict = JudgeRemote(diff_.remote);
  }

  const DiffSide& before_;
  const DiffSide& after_;
  Measures b_;
  Measures a_;
  std::optional<ThreadPairs> pairs_;
  Diff diff_;
};

}  // namespace

const SiteView* SiteRuns::first() const {
  const auto found =
      std::find_if(runs.begin(), runs.end(), [](const SiteView* site) { return site != nullptr; });
  return found == runs.end() ? nullptr : *found;
}

std::string SiteRuns::Id() const {
  if (first() == nullptr) return "";
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i] != nullptr) return i == 0 ? runs[i]->id : Concat(runs[i]->id, "/", i + 1);
  }
  return "";
}

uint64_t SiteRuns::Samples() const {
  uint64_t sum = 0;
  for (const SiteView* site : runs) {
    if (site != nullptr && __builtin_add_overflow(sum, site->samples, &sum)) return UINT64_MAX;
  }
  return sum;
}

double DiffRow::LargerShare() const {
  return std::max({share.before.value_or(0), share.after.value_or(0),
                   latency_share.before.value_or(0), latency_share.after.value_or(0)});
}

Diff Compare(const DiffSide& before, const DiffSide& after) {
  return Comparer(before, after).Run();
}

}  // namespace memagent::viewer
