// Who uses a site's memory, and in how large a unit users are apart: what pattern, cause and advice
// are all decided from. Nodes here are those of CPUs unless they are called homes.
#ifndef MEMAGENT_VIEWER_SITE_USE_H_
#define MEMAGENT_VIEWER_SITE_USE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "viewer/view.h"

namespace memagent::viewer {

inline constexpr size_t kStripParts = 64;
inline constexpr uint64_t kLineUnit = 64;
inline constexpr uint64_t kPageUnit = 4096;
inline constexpr uint64_t kHugeUnit = uint64_t{2} << 20;
inline constexpr uint64_t kBlockUnit = 0;

using NodeSamples = std::map<int32_t, uint64_t>;

// Samples of which both nodes are known.
struct SiteUse {
  NodeSamples by_node;
  NodeSamples by_home;         // node of the page
  NodeSamples stores_by_node;  // of by_node; empty where samples don't tell
  std::map<uint32_t, uint64_t> by_thread;
  uint64_t located = 0;
  uint64_t stores = 0;

  // That uses it most; -1 when nobody does.
  int32_t MainNode() const;
  uint64_t Of(int32_t node) const;
  // Chance that two accesses come from one node if nodes took turns at random.
  double ChanceOfSameNode() const;
};
SiteUse UseOf(const SiteView& site);

// By 64th of the blocks.
struct Strip {
  std::array<NodeSamples, kStripParts> users;
  std::array<NodeSamples, kStripParts> homes;
  uint64_t samples = 0;
};
Strip StripOf(const SiteView& site);

// Which node has most of these, and how many; {-1, 0} when there are none.
std::pair<int32_t, uint64_t> MostOf(const NodeSamples& samples);
uint64_t SumOf(const NodeSamples& samples);

// Of two accesses in one unit of memory, how often they come from two nodes.
struct Mixing {
  uint64_t pairs = 0;
  uint64_t apart = 0;    // pairs of two nodes
  uint64_t written = 0;  // of those: one of the two was a store
  double chance = 0;     // share of such pairs if all nodes used all of it at random
  Interval interval;     // of apart / pairs

  double Apart() const { return Share(apart, pairs); }
  // Sure to be less (more) than half as mixed as by chance: each node keeps to its own units (all
  // nodes use the same ones). Neither when there are too few pairs to tell.
  bool IsOwn() const;
  bool IsShared() const;
};
// nullopt when the profile does not tell, or one node alone uses it.
std::optional<Mixing> MixingIn(const SiteView& site, const SiteUse& use, uint64_t unit_bytes);
// The same for 64ths of the blocks.
std::optional<Mixing> MixingInStrip(const Strip& strip, const SiteUse& use, double design_effect);

// In 2 MiB: by the pairs, or by all samples in parts of a single block that are no larger, where that
// is more. These don't look less mixed where threads run by turns, on a crowded machine.
std::optional<Mixing> MixingInHugePages(const SiteView& site, const SiteUse& use);

// Share of the sampled pages that are huge; where the kernel does not tell (before Linux 6.7), of
// the samples whose translation is told; else of the pages that page faults brought. nullopt: none of
// these is known.
std::optional<double> HugeShare(const SiteView& site);

// A number of samples computed as a real number, rounded; in range for whatever value.
uint64_t RoundedSamples(double samples);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_SITE_USE_H_
