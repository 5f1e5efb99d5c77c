#include "viewer/site_use.h"

#include <algorithm>
#include <utility>

namespace memagent::viewer {
namespace {

constexpr double kHalfMixed = 0.5;

const memagent::v1::Sharing* SharingIn(const SiteView& site, uint64_t unit_bytes) {
  for (const auto& sharing : site.sharing) {
    if (sharing.unit_bytes() == unit_bytes) return &sharing;
  }
  return nullptr;
}

}  // namespace

std::pair<int32_t, uint64_t> MostOf(const NodeSamples& samples) {
  std::pair<int32_t, uint64_t> most = {-1, 0};
  for (const auto& [node, count] : samples) {
    if (count > most.second) most = {node, count};
  }
  return most;
}

uint64_t SumOf(const NodeSamples& samples) {
  uint64_t sum = 0;
  for (const auto& [node, count] : samples) sum += count;
  return sum;
}

uint64_t RoundedSamples(double samples) {
  constexpr double kMost = 1e18;
  return static_cast<uint64_t>(std::clamp(samples, 0.0, kMost) + 0.5);
}

int32_t SiteUse::MainNode() const { return MostOf(by_node).first; }

uint64_t SiteUse::Of(int32_t node) const {
  const auto found = by_node.find(node);
  return found == by_node.end() ? 0 : found->second;
}

double SiteUse::ChanceOfSameNode() const {
  double same = 0;
  for (const auto& [node, count] : by_node) same += Share(count, located) * Share(count, located);
  return std::min(1.0, same);
}

SiteUse UseOf(const SiteView& site) {
  SiteUse result;
  for (const Use& use : site.uses) {
    if (!use.IsLocated()) continue;
    result.by_node[use.cpu_node] += use.samples;
    result.by_home[use.memory_node] += use.samples;
    result.by_thread[use.thread] += use.samples;
    if (use.stores > 0) result.stores_by_node[use.cpu_node] += use.stores;
    result.located += use.samples;
    result.stores += use.stores;
  }
  return result;
}

Strip StripOf(const SiteView& site) {
  Strip strip;
  for (const StripCell& cell : site.strip) {
    if (cell.position >= kStripParts) continue;
    if (cell.cpu_node >= 0) {
      strip.users[cell.position][cell.cpu_node] += cell.samples;
      strip.samples += cell.samples;
    }
    if (cell.memory_node >= 0) strip.homes[cell.position][cell.memory_node] += cell.samples;
  }
  return strip;
}

bool Mixing::IsOwn() const { return pairs >= kWeakSamples && interval.high < kHalfMixed * chance; }
bool Mixing::IsShared() const {
  return pairs >= kWeakSamples && interval.low > kHalfMixed * chance;
}

std::optional<Mixing> MixingIn(const SiteView& site, const SiteUse& use, uint64_t unit_bytes) {
  const memagent::v1::Sharing* sharing = SharingIn(site, unit_bytes);
  const double chance = 1 - use.ChanceOfSameNode();
  if (sharing == nullptr || sharing->pairs() == 0 || chance <= 0) return std::nullopt;
  Mixing mixing;
  mixing.pairs = sharing->pairs();
  mixing.apart = mixing.pairs - std::min(mixing.pairs, sharing->same_node());
  mixing.written = std::min(mixing.apart, sharing->other_node_written());
  mixing.chance = chance;
  mixing.interval = WilsonInterval(mixing.apart, mixing.pairs, site.design_effect);
  return mixing;
}

std::optional<double> HugeShare(const SiteView& site) {
  if (site.huge_pages_asked > 0) return Share(site.huge_pages, site.huge_pages_asked);
  uint64_t told = 0;
  uint64_t huge = 0;
  for (const auto& [key, kind] : site.access.kinds) {
    if (kind.page_bytes == 0) continue;
    told += kind.samples;
    if (kind.page_bytes >= kHugeUnit) huge += kind.samples;
  }
  if (told >= kWeakSamples) return std::min(1.0, Share(huge, told));
  if (site.touched_pages_told < kWeakSamples) return std::nullopt;
  return Share(site.touched_pages_huge, site.touched_pages_told);
}

// Of n samples in a part, n/2 pairs are independent; the share is that of all pairs.
std::optional<Mixing> MixingInStrip(const Strip& strip, const SiteUse& use, double design_effect) {
  double pairs = 0;
  double apart = 0;
  for (const NodeSamples& users : strip.users) {
    const auto whole = static_cast<double>(SumOf(users));
    if (whole < 2) continue;
    double same = 0;
    for (const auto& [node, count] : users) {
      const auto samples = static_cast<double>(count);
      same += samples * (samples - 1);
    }
    pairs += whole / 2;
    apart += whole / 2 * (1 - same / (whole * (whole - 1)));
  }
  const double chance = 1 - use.ChanceOfSameNode();
  if (pairs < 1 || chance <= 0) return std::nullopt;
  Mixing mixing;
  mixing.pairs = RoundedSamples(pairs);
  mixing.apart = std::min(mixing.pairs, RoundedSamples(apart));
  mixing.chance = chance;
  mixing.interval = WilsonInterval(mixing.apart, mixing.pairs, design_effect);
  return mixing;
}

std::optional<Mixing> MixingInHugePages(const SiteView& site, const SiteUse& use) {
  const auto by_pairs = MixingIn(site, use, kHugeUnit);
  const bool parts_are_small =
      site.allocations == 1 && site.bytes_allocated / kStripParts <= kHugeUnit;
  const auto by_parts = MixingInStrip(StripOf(site), use, site.design_effect);
  if (!by_pairs || !by_parts || !parts_are_small) return by_pairs;
  return by_parts->Apart() > by_pairs->Apart() ? by_parts : by_pairs;
}

}  // namespace memagent::viewer
