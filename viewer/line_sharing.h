// Cache lines that several threads use and write: true sharing (the same words) or false sharing
// (each thread its own words, so that room between them would end it).
#ifndef MEMAGENT_VIEWER_LINE_SHARING_H_
#define MEMAGENT_VIEWER_LINE_SHARING_H_

#include <cstdint>
#include <vector>

#include "viewer/view.h"

namespace memagent::viewer {

struct LineSharing {
  enum class Kind {
    kNone,    // lines have one user, nobody writes, or it can't be told from chance
    kUntold,  // shared and written; single samples are too few to tell words apart
    kTrue,
    kFalse,
  };
  Kind kind = Kind::kNone;
  uint64_t pairs = 0;  // of samples in a row in one line
  double apart = 0;    // share of them that come from two threads
  Interval interval;
  uint64_t samples = 0;  // single samples in lines of several threads
  double own_words = 0;  // share of them in words that one thread uses
};

// For View::raw_by_site.
std::vector<uint32_t> RawBySite(const profile::Profile& profile);

LineSharing LineSharingOf(const View& view, const SiteView& site);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_LINE_SHARING_H_
