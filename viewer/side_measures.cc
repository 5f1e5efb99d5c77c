#include "viewer/side_measures.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "viewer/statistics.h"
#include "viewer/thread_pairs.h"

namespace memagent::viewer {
namespace {

// The run of the other side that is compared with run `i`.
size_t PartnerOf(size_t i, size_t others) { return std::min(i, others - 1); }

const SiteView* SiteIn(const SiteRuns& site, size_t run) {
  return run < site.runs.size() ? site.runs[run] : nullptr;
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

}  // namespace

SideMeasures::SideMeasures(const DiffSide& side) {
  for (const DiffRun& run : side.runs) runs_.push_back(std::make_unique<RunMeasures>(*run.view));
}

void SideMeasures::PairWith(const SideMeasures& others) {
  for (size_t i = 0; i < runs_.size(); ++i) {
    const RunMeasures& other = *others.runs_[PartnerOf(i, others.runs_.size())];
    const ThreadPairs pairs(runs_[i]->view(), other.view());
    std::map<uint32_t, uint32_t> threads;
    for (const ThreadPairs::Pair& pair : pairs.pairs()) threads[pair.before] = pair.after;
    runs_[i]->PairWith(other, threads);
  }
}

std::vector<Measured> SideMeasures::Values(OfSite method, const SiteRuns& own,
                                           const SiteRuns& other,
                                           const SideMeasures& others) const {
  std::vector<Measured> values;
  for (size_t i = 0; i < runs_.size(); ++i) {
    const SiteInRuns site = {SiteIn(own, i), SiteIn(other, PartnerOf(i, others.runs_.size()))};
    values.push_back((runs_[i].get()->*method)(site));
  }
  return values;
}

std::vector<Measured> SideMeasures::ValuesOfAll(OfRun method) const {
  std::vector<Measured> values;
  for (const auto& run : runs_) values.push_back((run.get()->*method)());
  return values;
}

bool SideMeasures::TellsClumping() const {
  return std::all_of(runs_.begin(), runs_.end(),
                     [](const auto& run) { return run->TellsClumping(); });
}

bool CanJudgePart(const std::vector<Measured>& before, const std::vector<Measured>& after) {
  const Support b = SupportOf(before);
  const Support a = SupportOf(after);
  return std::min(b.whole, a.whole) >= kWeakSamples && std::max(b.part, a.part) >= kWeakSamples;
}

bool CanJudgeWhole(const std::vector<Measured>& before, const std::vector<Measured>& after) {
  return std::min(SupportOf(before).whole, SupportOf(after).whole) >= kWeakSamples;
}

bool CanJudgeMean(const std::vector<Measured>& before, const std::vector<Measured>& after) {
  return std::min(SupportOf(before).part, SupportOf(after).part) >= kWeakSamples;
}

}  // namespace memagent::viewer
