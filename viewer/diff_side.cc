#include "viewer/diff_side.h"

#include <algorithm>
#include <map>

#include "viewer/comparable.h"
#include "viewer/concat.h"

namespace memagent::viewer {

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

bool IsSameCode(const DiffSide& before, const DiffSide& after) {
  const auto is_same = [&before](const DiffRun& run) {
    return IsSameCode(before.first(), *run.view);
  };
  return std::all_of(before.runs.begin(), before.runs.end(), is_same) &&
         std::all_of(after.runs.begin(), after.runs.end(), is_same);
}

std::vector<SiteRuns> SitesOf(const DiffSide& side) {
  const bool same_code = IsSameCode(side, side);
  std::vector<SiteRuns> all;
  for (size_t run = 0; run < side.runs.size(); ++run) {
    Sites known;
    std::map<const SiteView*, size_t> place;
    for (size_t i = 0; i < all.size(); ++i) {
      known.push_back(all[i].first());
      place[known.back()] = i;
    }
    for (const SitePair& pair : MatchSites(known, AllSites(*side.runs[run].view), same_code)) {
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

}  // namespace memagent::viewer
