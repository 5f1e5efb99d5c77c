#include "viewer/line_sharing.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "agent/base/types.h"
#include "viewer/site_use.h"

namespace memagent::viewer {
namespace {

constexpr double kMuchApart = 0.2;      // of pairs in a line; the lower end of the interval
constexpr double kOwnWords = 0.9;       // of samples
constexpr double kSecondWriter = 0.05;  // of the stores, those of the thread with the second most
constexpr uint64_t kWordBytes = 8;
// Of all memory samples: single samples are only looked through for sites that matter.
constexpr double kWorthALook = 0.01;

using ThreadSamples = std::map<uint32_t, uint64_t>;
using Line = std::array<ThreadSamples, kLineUnit / kWordBytes>;

bool SeveralWrite(const SiteView& site) {
  ThreadSamples stores;
  uint64_t all = 0;
  for (const Use& use : site.uses) {
    stores[use.thread] += use.stores;
    all += use.stores;
  }
  uint64_t most = 0;
  for (const auto& [thread, count] : stores) most = std::max(most, count);
  return all > 0 && Share(all - std::min(all, most), all) >= kSecondWriter;
}

// Of the samples that were kept one by one, those of the site with their whole address.
std::map<uint64_t, Line> LinesOf(const View& view, const SiteView& site) {
  const std::vector<profile::RawSample>& samples = view.profile.raw_samples;
  const auto first = std::lower_bound(
      view.raw_by_site.begin(), view.raw_by_site.end(), site.profile_id,
      [&samples](uint32_t index, uint32_t id) { return samples[index].site < id; });
  std::map<uint64_t, Line> lines;
  for (auto at = first; at != view.raw_by_site.end(); ++at) {
    const profile::RawSample& sample = samples[*at];
    if (sample.site != site.profile_id) break;
    if (sample.evidence != static_cast<uint32_t>(Evidence::kExact)) continue;
    const uint64_t word = sample.address % kLineUnit / kWordBytes;
    ++lines[sample.address / kLineUnit][word][sample.thread];
  }
  return lines;
}

// A word that was seen once says nothing of who else uses it.
void CountWords(const Line& line, LineSharing& sharing, double& own) {
  ThreadSamples threads;
  for (const ThreadSamples& word : line) {
    for (const auto& [thread, count] : word) threads[thread] += count;
  }
  if (threads.size() < 2) return;
  for (const ThreadSamples& word : line) {
    uint64_t all = 0;
    uint64_t most = 0;
    for (const auto& [thread, count] : word) {
      all += count;
      most = std::max(most, count);
    }
    if (all < 2) continue;
    sharing.samples += all;
    own += static_cast<double>(most);
  }
}

}  // namespace

std::vector<uint32_t> RawBySite(const profile::Profile& profile) {
  const std::vector<profile::RawSample>& samples = profile.raw_samples;
  std::vector<uint32_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&samples](uint32_t a, uint32_t b) {
    return samples[a].site < samples[b].site;
  });
  return order;
}

LineSharing LineSharingOf(const View& view, const SiteView& site) {
  LineSharing sharing;
  const auto found = std::find_if(site.sharing.begin(), site.sharing.end(),
                                  [](const auto& unit) { return unit.unit_bytes() == kLineUnit; });
  if (found == site.sharing.end() || found->pairs() < kWeakSamples) return sharing;
  if (site.share < kWorthALook) return sharing;
  sharing.pairs = found->pairs();
  const uint64_t apart = found->pairs() - std::min(found->pairs(), found->same_thread());
  sharing.apart = Share(apart, found->pairs());
  sharing.interval = WilsonInterval(apart, found->pairs(), site.design_effect);
  if (sharing.interval.low < kMuchApart || !view.knows_stores || !SeveralWrite(site)) {
    return sharing;
  }
  double own = 0;
  for (const auto& [address, line] : LinesOf(view, site)) CountWords(line, sharing, own);
  sharing.kind = LineSharing::Kind::kUntold;
  if (sharing.samples < kWeakSamples) return sharing;
  sharing.own_words = own / static_cast<double>(sharing.samples);
  sharing.kind =
      sharing.own_words >= kOwnWords ? LineSharing::Kind::kFalse : LineSharing::Kind::kTrue;
  return sharing;
}

}  // namespace memagent::viewer
