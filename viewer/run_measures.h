// What one run says of a site, and how sure that is: shares, latencies, amounts. Errors allow for
// samples of different weight (View::design_effect) and for clumping (clumping.h).
#ifndef MEMAGENT_VIEWER_RUN_MEASURES_H_
#define MEMAGENT_VIEWER_RUN_MEASURES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "viewer/change.h"
#include "viewer/clumping.h"
#include "viewer/view.h"

namespace memagent::viewer {

// What one sample stands for, in the engine's period unit; nothing without an engine.
struct SampleWeight {
  double amount = 1;
  std::string unit;  // "ns": of CPU time
};
std::optional<SampleWeight> WeightOfSample(const View& view);

// A site in a run and in the run that it is paired with; null where a run does not have it.
struct SiteInRuns {
  const SiteView* own = nullptr;
  const SiteView* other = nullptr;
};

// Of one view, which must outlive it. Of a site that the run does not have, shares and amounts are
// 0 of what there is.
class RunMeasures {
 public:
  explicit RunMeasures(const View& view);

  const View& view() const { return view_; }

  // Another run of the program, with which clumps are told from what the program always does; must
  // outlive this one. `threads`: ids in `other` by our own.
  void PairWith(const RunMeasures& other, const std::map<uint32_t, uint32_t>& threads);

  // Without clumping: how many samples there are to judge by.
  Measured PlainShare(const SiteInRuns& site) const;
  Measured PlainRemote(const SiteInRuns& site) const;

  // The site's share of the memory samples, and of the sampled latency.
  Measured ShareOfSamples(const SiteInRuns& site) const;
  Measured ShareOfLatency(const SiteInRuns& site) const;
  // Its remote share, and that of all sites.
  Measured Remote(const SiteInRuns& site) const;
  Measured RemoteOfAll() const;
  // The share of its located samples that the memory node serves which serves most of them.
  Measured BusiestNode(const SiteInRuns& site) const;
  // Its mean latency in cycles, and that of all sites.
  Measured Latency(const SiteInRuns& site) const;
  Measured LatencyOfAll() const;
  // Its sampled latency, and its samples; both times the period (times 1 for an engine without
  // one).
  Measured SumOfLatency(const SiteInRuns& site) const;
  Measured Amount(const SiteInRuns& site) const;
  Measured AmountOfAll() const;

  // Whether the profile keeps enough single samples to see how clumped they are.
  bool TellsClumping() const;

 private:
  struct Kept {
    uint32_t site = 0;
    bool located = false;
    bool remote = false;
    bool on_busiest = false;  // its page, on the node that serves most of its site
    uint32_t latency_cycles = 0;
  };
  // Ratios of sums over samples. Of one site, or of all: `kEverySite`.
  enum class Ratio { kShare, kShareOfLatency, kRemote, kBusiestNode, kLatency };
  struct Terms {
    double part = 0;
    double whole = 0;  // 0: the ratio does not count this sample
  };
  static constexpr uint32_t kEverySite = 0;

  // Memory nodes by samples of one site: the most, its node, and all.
  struct Served {
    int32_t busiest = -1;
    uint64_t by_busiest = 0;
    uint64_t samples = 0;
  };

  static Served ServedOf(const SiteView& site);
  Kept KeptOf(const profile::RawSample& raw) const;
  void Keep(const profile::Profile& profile);
  static Terms TermsOf(const Kept& kept, Ratio ratio, uint32_t site);
  Residuals ResidualsOf(Ratio ratio, uint32_t site) const;
  Residuals ResidualsOfOther(Ratio ratio, uint32_t site) const;
  double Effect(Ratio ratio, const SiteInRuns& site, uint64_t samples) const;
  double EffectOfAll(Ratio ratio, uint64_t samples) const;
  double EffectOf(Ratio ratio, uint32_t own, std::optional<uint32_t> other, uint64_t samples) const;
  Measured LatencyOf(const AccessView& access, double design_effect) const;

  const View& view_;
  double weight_ = 1;
  std::map<uint32_t, Served> served_;         // by site
  std::vector<std::vector<Kept>> by_thread_;  // of memory accesses, in the order of time
  std::map<uint32_t, size_t> place_of_thread_;
  std::map<uint32_t, uint64_t> kept_of_site_;
  uint64_t kept_ = 0;
  const RunMeasures* other_ = nullptr;
  std::vector<std::optional<size_t>> place_in_other_;  // by our own place
  // Several quantities of a site share one: found once. By ratio, site, and site in the other run.
  mutable std::map<std::tuple<Ratio, uint32_t, std::optional<uint32_t>>, double> effects_;
};

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_RUN_MEASURES_H_
