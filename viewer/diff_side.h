// The runs of one side of a diff, and the sites of one program in several of its runs.
#ifndef MEMAGENT_VIEWER_DIFF_SIDE_H_
#define MEMAGENT_VIEWER_DIFF_SIDE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "viewer/site_match.h"
#include "viewer/view.h"

namespace memagent::viewer {

struct DiffRun {
  const View* view = nullptr;
  std::string path;
};

// The runs before, or those after; at least one. Views must outlive what is made of them.
struct DiffSide {
  std::vector<DiffRun> runs;

  DiffSide() = default;
  DiffSide(const View& view, std::string path) { Add(view, std::move(path)); }
  void Add(const View& view, std::string path) { runs.push_back({&view, std::move(path)}); }
  const View& first() const { return *runs.front().view; }
};

// One site in the runs of a side, in their order; null where a run does not have it.
struct SiteRuns {
  std::vector<const SiteView*> runs;

  // In the first run that has it; null when none does.
  const SiteView* first() const;
  // "S1"; of a site that the first file does not have "S4/2", of the second. "" without a site.
  std::string Id() const;
  uint64_t Samples() const;
};

// Whether all runs of both are of the same code: comparable.h.
bool IsSameCode(const DiffSide& before, const DiffSide& after);

// The sites of all runs of a side, each with its sites in every one of them.
std::vector<SiteRuns> SitesOf(const DiffSide& side);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_DIFF_SIDE_H_
