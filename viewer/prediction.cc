#include "viewer/prediction.h"

#include <algorithm>
#include <cmath>

#include "viewer/nodes.h"

namespace memagent::viewer {
namespace {

// Of a node's memory: the kernel and other programs need some.
constexpr double kRoom = 0.9;
constexpr double kWithinBest = 0.02;
// Of the mean distance now: less of a saving is no reason to move anything.
constexpr double kNearer = 0.8;
constexpr double kLocalDistance = 10;  // the kernel's number for a node and itself

// Mean over the site's users of `distance_from(node)`; 0 where one of them is not known.
template <typename DistanceFrom>
double MeanDistance(const SiteUse& use, DistanceFrom distance_from) {
  double sum = 0;
  for (const auto& [node, samples] : use.by_node) {
    const std::optional<double> distance = distance_from(node);
    if (!distance) return 0;
    sum += *distance * Share(samples, use.located);
  }
  return sum;
}

std::optional<double> Between(const View& view, int32_t from, int32_t to) {
  const auto distance = NodeDistance(view, from, to);
  return distance ? std::optional<double>(*distance) : std::nullopt;
}

// `samples` of `whole` are remote.
Prediction Counted(uint64_t samples, uint64_t whole, double design_effect) {
  Prediction result;
  result.remote = std::min(1.0, Share(samples, whole));
  result.interval = WilsonInterval(samples, whole, design_effect);
  return result;
}

size_t PartOf(size_t position, size_t parts) {
  return (2 * position + 1) * parts / (2 * kStripParts);
}

// Samples that are local when each part lies on its node.
uint64_t LocalSamples(const Strip& strip, const std::vector<int32_t>& nodes) {
  uint64_t local = 0;
  for (size_t position = 0; position < kStripParts; ++position) {
    const NodeSamples& users = strip.users[position];
    const auto found = users.find(nodes[PartOf(position, nodes.size())]);
    if (found != users.end()) local += found->second;
  }
  return local;
}

std::vector<int32_t> MainUsers(const Strip& strip, size_t parts) {
  std::vector<NodeSamples> users(parts);
  for (size_t position = 0; position < kStripParts; ++position) {
    for (const auto& [node, samples] : strip.users[position]) {
      users[PartOf(position, parts)][node] += samples;
    }
  }
  std::vector<int32_t> nodes;
  for (const NodeSamples& part : users) nodes.push_back(MostOf(part).first);
  // A part that nobody was seen in goes with its neighbour.
  for (size_t i = 1; i < nodes.size(); ++i) {
    if (nodes[i] < 0) nodes[i] = nodes[i - 1];
  }
  for (size_t i = nodes.size() - 1; i > 0; --i) {
    if (nodes[i - 1] < 0) nodes[i - 1] = nodes[i];
  }
  return nodes;
}

bool HasRoom(const View& view, int32_t node, uint64_t bytes) {
  const uint64_t memory = MemoryBytes(view, node);
  return memory == 0 || static_cast<double>(bytes) <= kRoom * static_cast<double>(memory);
}

}  // namespace

Prediction AsItIs(const View& view, const SiteView& site) {
  Prediction now = Counted(site.remote_samples, site.located_samples, site.design_effect);
  for (const Use& use : site.uses) {
    if (!use.IsLocated()) continue;
    const auto distance = NodeDistance(view, use.cpu_node, use.memory_node);
    if (!distance) {
      now.distance = 0;
      return now;
    }
    now.distance += *distance * Share(use.samples, site.located_samples);
  }
  return now;
}

double RelativeDistance(const Prediction& now, const Prediction& after) {
  if (now.remote <= 0 || after.remote <= 0) return 1;
  if (now.distance <= kLocalDistance || after.distance <= kLocalDistance) return 1;
  return (after.distance - kLocalDistance) / after.remote * now.remote /
         (now.distance - kLocalDistance);
}

bool IsBetter(const Prediction& now, const Prediction& after) {
  if (after.interval.high < now.interval.low) return true;
  if (after.distance <= 0 || after.distance >= kNearer * now.distance) return false;
  return after.interval.low <= now.interval.high &&
         after.interval.high * RelativeDistance(now, after) < now.interval.low;
}

Prediction BoundTo(const View& view, const SiteView& site, const SiteUse& use, int32_t node) {
  const uint64_t others = use.located - std::min(use.located, use.Of(node));
  Prediction result = Counted(others, use.located, site.design_effect);
  result.distance = MeanDistance(use, [&](int32_t from) { return Between(view, from, node); });
  return result;
}

Prediction InterleavedOver(const View& view, const SiteView& site, const SiteUse& use,
                           const std::vector<int32_t>& nodes) {
  uint64_t inside = 0;
  for (const int32_t node : nodes) inside += use.Of(node);
  const Interval share = WilsonInterval(inside, use.located, site.design_effect);
  const auto count = static_cast<double>(std::max<size_t>(1, nodes.size()));
  Prediction result;
  result.remote = 1 - std::min(1.0, Share(inside, use.located)) / count;
  result.interval = {1 - share.high / count, 1 - share.low / count};
  result.distance = MeanDistance(use, [&](int32_t from) -> std::optional<double> {
    double sum = 0;
    for (const int32_t node : nodes) {
      const auto distance = NodeDistance(view, from, node);
      if (!distance) return std::nullopt;
      sum += *distance / count;
    }
    return sum;
  });
  return result;
}

Prediction BlockedOver(const View& view, const SiteView& site, const Strip& strip,
                       const std::vector<int32_t>& nodes) {
  if (nodes.empty()) return AsItIs(view, site);
  const uint64_t local = std::min(strip.samples, LocalSamples(strip, nodes));
  Prediction result = Counted(strip.samples - local, strip.samples, site.design_effect);
  for (size_t position = 0; position < kStripParts; ++position) {
    for (const auto& [from, samples] : strip.users[position]) {
      const auto distance = NodeDistance(view, from, nodes[PartOf(position, nodes.size())]);
      if (!distance) {
        result.distance = 0;
        return result;
      }
      result.distance += *distance * Share(samples, strip.samples);
    }
  }
  return result;
}

std::vector<int32_t> BestParts(const Strip& strip) {
  const uint64_t best = LocalSamples(strip, MainUsers(strip, kStripParts));
  for (size_t parts = 1; parts < kStripParts; ++parts) {
    std::vector<int32_t> nodes = MainUsers(strip, parts);
    const uint64_t local = LocalSamples(strip, nodes);
    if (Share(best - std::min(best, local), strip.samples) <= kWithinBest) return nodes;
  }
  return MainUsers(strip, kStripParts);
}

Prediction UnitsByUser(const Mixing& mixing) {
  const auto fewest = [](double apart) {
    return apart >= 0.5 ? apart : (1 - std::sqrt(1 - 2 * apart)) / 2;
  };
  Prediction result;
  result.remote = fewest(mixing.Apart());
  result.interval = {fewest(mixing.interval.low), mixing.interval.high};
  return result;
}

Prediction Without(const SiteView& site, uint64_t samples) {
  const uint64_t left = site.remote_samples - std::min(site.remote_samples, samples);
  return Counted(left, site.located_samples, site.design_effect);
}

int32_t BestNode(const View& view, const SiteView& site, const SiteUse& use) {
  int32_t best = -1;
  Prediction least;
  for (const auto& [node, samples] : use.by_node) {
    // A damaged file may name more nodes than the machine has.
    if (view.nodes.by_number.count(node) == 0) continue;
    if (!HasCpus(view, node) || !HasMemory(view, node)) continue;
    if (!HasRoom(view, node, site.bytes_peak)) continue;
    const Prediction there = BoundTo(view, site, use, node);
    const bool nearer = there.distance < least.distance ||
                        (there.distance == least.distance && there.remote < least.remote);
    if (best >= 0 && !nearer) continue;
    best = node;
    least = there;
  }
  return best;
}

Gain GainOf(const View& view, const SiteView& site, const Prediction& now,
            const Prediction& after) {
  Gain gain;
  double scale = Share(site.located_samples, view.tally.MemorySamples());
  const auto far = site.access.far.Mean();
  const auto near =
      site.access.near.samples >= kWeakSamples ? site.access.near.Mean() : view.access.near.Mean();
  if (far && near && now.remote > 0 && view.access.latency.cycles > 0) {
    gain.of_latency = true;
    scale = std::max(0.0, *far - *near) * static_cast<double>(site.access.far.samples) /
            static_cast<double>(view.access.latency.cycles) / now.remote;
  }
  const auto saved = [scale](double from, double to) {
    return std::clamp(scale * (from - to), 0.0, 1.0);
  };
  const double far_as_now = RelativeDistance(now, after);
  gain.share = saved(now.remote, after.remote * far_as_now);
  gain.interval = {saved(now.interval.low, after.interval.high * far_as_now),
                   saved(now.interval.high, after.interval.low * far_as_now)};
  return gain;
}

}  // namespace memagent::viewer
