#include "viewer/run_measures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "viewer/site_use.h"

namespace memagent::viewer {
namespace {

// More are not looked at: each site looks at all of them. A profile has 20,000 unless told.
constexpr size_t kMostKept = 65'536;

uint64_t Rounded(double value) { return static_cast<uint64_t>(std::max(0.0, value) + 0.5); }

}  // namespace

std::optional<SampleWeight> WeightOfSample(const View& view) {
  if (!view.engine_record || view.engine_record->period() == 0) return std::nullopt;
  return SampleWeight{static_cast<double>(view.engine_record->period()),
                      view.engine_record->period_unit()};
}

RunMeasures::RunMeasures(const View& view) : view_(view) {
  if (const auto weight = WeightOfSample(view)) weight_ = weight->amount;
  for (const SiteView& site : view.sites) served_[site.profile_id] = ServedOf(site);
  Keep(view.profile);
  for (const std::vector<Kept>& kept : by_thread_) {
    kept_ += kept.size();
    for (const Kept& sample : kept) {
      if (sample.site != kEverySite) ++kept_of_site_[sample.site];
    }
  }
}

RunMeasures::Served RunMeasures::ServedOf(const SiteView& site) {
  NodeSamples by_home;
  for (const Use& use : site.uses) {
    if (use.IsLocated()) by_home[use.memory_node] += use.samples;
  }
  const auto [busiest, most] = MostOf(by_home);
  return {busiest, most, SumOf(by_home)};
}

RunMeasures::Kept RunMeasures::KeptOf(const profile::RawSample& raw) const {
  const auto& cpu_nodes = view_.profile.header.machine().cpu_nodes();
  const int32_t cpu_node = raw.cpu < static_cast<uint32_t>(cpu_nodes.size())
                               ? cpu_nodes.Get(static_cast<int>(raw.cpu))
                               : -1;
  Kept kept;
  kept.site = raw.site;
  kept.latency_cycles = raw.latency_cycles;
  kept.located = cpu_node >= 0 && raw.memory_node >= 0;
  kept.remote = kept.located && cpu_node != raw.memory_node;
  const auto served = served_.find(raw.site);
  kept.on_busiest =
      kept.located && served != served_.end() && served->second.busiest == raw.memory_node;
  return kept;
}

void RunMeasures::Keep(const profile::Profile& profile) {
  const size_t step = profile.raw_samples.size() / kMostKept + 1;
  std::map<uint32_t, std::vector<std::pair<uint64_t, Kept>>> threads;
  for (size_t i = 0; i < profile.raw_samples.size(); i += step) {
    const profile::RawSample& raw = profile.raw_samples[i];
    if (raw.site == 0 && raw.evidence == 0) continue;  // no access to memory
    threads[raw.thread].emplace_back(raw.time, KeptOf(raw));
  }
  for (auto& [thread, samples] : threads) {
    std::stable_sort(samples.begin(), samples.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    place_of_thread_[thread] = by_thread_.size();
    std::vector<Kept>& kept = by_thread_.emplace_back();
    kept.reserve(samples.size());
    for (const auto& [time, sample] : samples) kept.push_back(sample);
  }
}

void RunMeasures::PairWith(const RunMeasures& other, const std::map<uint32_t, uint32_t>& threads) {
  other_ = &other;
  place_in_other_.assign(by_thread_.size(), std::nullopt);
  for (const auto& [own, theirs] : threads) {
    const auto here = place_of_thread_.find(own);
    const auto there = other.place_of_thread_.find(theirs);
    if (here == place_of_thread_.end() || there == other.place_of_thread_.end()) continue;
    place_in_other_[here->second] = there->second;
  }
}

bool RunMeasures::TellsClumping() const { return kept_ >= kWeakSamples; }

RunMeasures::Terms RunMeasures::TermsOf(const Kept& kept, Ratio ratio, uint32_t site) {
  const bool is_site = site == kEverySite || kept.site == site;
  const double latency = kept.latency_cycles;
  switch (ratio) {
    case Ratio::kShare:
      return {is_site ? 1.0 : 0.0, 1};
    case Ratio::kShareOfLatency:
      return {is_site ? latency : 0, latency};
    case Ratio::kRemote:
      return {kept.remote ? 1.0 : 0.0, is_site && kept.located ? 1.0 : 0.0};
    case Ratio::kBusiestNode:
      return {kept.on_busiest ? 1.0 : 0.0, is_site && kept.located ? 1.0 : 0.0};
    case Ratio::kLatency:
      return {latency, is_site && latency > 0 ? 1.0 : 0.0};
  }
  return {};
}

Residuals RunMeasures::ResidualsOf(Ratio ratio, uint32_t site) const {
  Terms sum;
  for (const std::vector<Kept>& thread : by_thread_) {
    for (const Kept& kept : thread) {
      const Terms terms = TermsOf(kept, ratio, site);
      if (terms.whole <= 0) continue;
      sum.part += terms.part;
      sum.whole += terms.whole;
    }
  }
  Residuals residuals(by_thread_.size());
  if (sum.whole <= 0) return residuals;
  const double value = sum.part / sum.whole;
  for (size_t i = 0; i < by_thread_.size(); ++i) {
    for (const Kept& kept : by_thread_[i]) {
      const Terms terms = TermsOf(kept, ratio, site);
      if (terms.whole <= 0) continue;
      residuals[i].push_back((terms.part - value * terms.whole) / sum.whole);
    }
  }
  return residuals;
}

// Of the other run, in the places of our own threads.
Residuals RunMeasures::ResidualsOfOther(Ratio ratio, uint32_t site) const {
  Residuals theirs = other_->ResidualsOf(ratio, site);
  Residuals residuals(by_thread_.size());
  for (size_t i = 0; i < by_thread_.size(); ++i) {
    if (place_in_other_[i]) residuals[i] = std::move(theirs[*place_in_other_[i]]);
  }
  return residuals;
}

double RunMeasures::EffectOf(Ratio ratio, uint32_t own, std::optional<uint32_t> other,
                             uint64_t samples) const {
  const auto [found, is_new] = effects_.try_emplace({ratio, own, other}, 1);
  if (!is_new) return found->second;
  const bool paired = other_ != nullptr && other.has_value();
  const Clumping clumping =
      ClumpingOf(ResidualsOf(ratio, own), paired ? ResidualsOfOther(ratio, *other) : Residuals());
  found->second = view_.design_effect * ClumpedDesignEffect(clumping, static_cast<double>(samples));
  return found->second;
}

double RunMeasures::Effect(Ratio ratio, const SiteInRuns& site, uint64_t samples) const {
  const auto found = kept_of_site_.find(site.own->profile_id);
  if (found == kept_of_site_.end() || found->second < kWeakSamples) return view_.design_effect;
  std::optional<uint32_t> other;
  if (site.other != nullptr && site.other->profile_id != kEverySite) other = site.other->profile_id;
  return EffectOf(ratio, site.own->profile_id, other, samples);
}

double RunMeasures::EffectOfAll(Ratio ratio, uint64_t samples) const {
  return TellsClumping() ? EffectOf(ratio, kEverySite, kEverySite, samples) : view_.design_effect;
}

Measured RunMeasures::PlainShare(const SiteInRuns& site) const {
  return MeasuredShare(site.own == nullptr ? 0 : site.own->samples, view_.tally.MemorySamples(),
                       view_.design_effect);
}

Measured RunMeasures::PlainRemote(const SiteInRuns& site) const {
  if (site.own == nullptr) return {};
  return MeasuredShare(site.own->remote_samples, site.own->located_samples, view_.design_effect);
}

Measured RunMeasures::ShareOfSamples(const SiteInRuns& site) const {
  Measured result = PlainShare(site);
  if (site.own != nullptr) result.design_effect = Effect(Ratio::kShare, site, result.whole);
  return result;
}

// As a number of equally heavy samples that says as much (Kish).
Measured RunMeasures::ShareOfLatency(const SiteInRuns& site) const {
  const LatencySum& whole = view_.access.latency;
  const double worth = view_.access.Moments().EffectiveSamples();
  if (whole.samples == 0 || worth < 1) return {};
  const uint64_t cycles = site.own == nullptr ? 0 : site.own->access.latency.cycles;
  const double share = std::min(1.0, Share(cycles, whole.cycles));
  const double effect = site.own == nullptr ? view_.design_effect
                                            : Effect(Ratio::kShareOfLatency, site, whole.samples);
  Measured result = MeasuredShare(Rounded(share * worth), Rounded(worth), effect);
  result.value = share;
  return result;
}

Measured RunMeasures::Remote(const SiteInRuns& site) const {
  Measured result = PlainRemote(site);
  if (result.value) result.design_effect = Effect(Ratio::kRemote, site, result.whole);
  return result;
}

Measured RunMeasures::RemoteOfAll() const {
  return MeasuredShare(view_.remote_samples, view_.located_samples,
                       EffectOfAll(Ratio::kRemote, view_.located_samples));
}

Measured RunMeasures::BusiestNode(const SiteInRuns& site) const {
  if (site.own == nullptr) return {};
  const Served served = ServedOf(*site.own);
  Measured result = MeasuredShare(served.by_busiest, served.samples, view_.design_effect);
  if (result.value) result.design_effect = Effect(Ratio::kBusiestNode, site, result.whole);
  return result;
}

Measured RunMeasures::LatencyOf(const AccessView& access, double design_effect) const {
  const std::optional<double> mean = access.latency.Mean();
  if (!mean) return {};
  const LatencyMoments moments = access.Moments();
  Measured result = MeasuredAmount(*mean, std::nullopt);
  if (moments.count > 0) {
    const auto samples = static_cast<double>(access.latency.samples);
    result.deviation = std::sqrt(moments.Variance() * design_effect / samples);
  }
  result.part = access.latency.samples;
  result.design_effect = view_.design_effect;  // of their number: clumps are in the deviation
  return result;
}

Measured RunMeasures::Latency(const SiteInRuns& site) const {
  if (site.own == nullptr || site.own->access.latency.samples == 0) return {};
  const AccessView& access = site.own->access;
  return LatencyOf(access, Effect(Ratio::kLatency, site, access.latency.samples));
}

Measured RunMeasures::LatencyOfAll() const {
  return LatencyOf(view_.access, EffectOfAll(Ratio::kLatency, view_.access.latency.samples));
}

// Counts of samples vary as Poisson counts do, and sums over them by the sum of squares. One sample
// is added so that a count of 0 is not taken for certain.
Measured RunMeasures::SumOfLatency(const SiteInRuns& site) const {
  if (site.own == nullptr) return MeasuredAmount(0, weight_);
  const LatencyMoments moments = site.own->access.Moments();
  const double effect = ShareOfLatency(site).design_effect;
  const double mean = moments.count > 0 ? moments.sum / moments.count : 1;
  return MeasuredAmount(weight_ * static_cast<double>(site.own->access.latency.cycles),
                        weight_ * std::sqrt(effect * (moments.squares + mean * mean)));
}

Measured RunMeasures::Amount(const SiteInRuns& site) const {
  const uint64_t samples = site.own == nullptr ? 0 : site.own->samples;
  const double effect = ShareOfSamples(site).design_effect;
  Measured result =
      MeasuredAmount(weight_ * static_cast<double>(samples),
                     weight_ * std::sqrt(effect * (static_cast<double>(samples) + 1)));
  result.part = samples;
  return result;
}

// No deviation: that the program did more or less in all is not a matter of sampling.
Measured RunMeasures::AmountOfAll() const {
  const uint64_t samples = view_.tally.MemorySamples();
  Measured result = MeasuredAmount(weight_ * static_cast<double>(samples), std::nullopt);
  result.part = samples;
  return result;
}

}  // namespace memagent::viewer
