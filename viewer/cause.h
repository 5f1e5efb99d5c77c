// Why a site's accesses are remote: which of its remote samples are on pages that lie far away for
// which reason, by what the profile tells of page faults, policies, moved pages and full nodes.
//
// A remote sample does not say why its page is where it is. The pages of each memory node are
// divided by cause (docs/ADVICE.md has the rules), and so are the samples on them. What nothing in
// the profile explains is unknown, never guessed.
#ifndef MEMAGENT_VIEWER_CAUSE_H_
#define MEMAGENT_VIEWER_CAUSE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/terminal.h"
#include "viewer/view.h"

namespace memagent::viewer {

enum class CauseKind {
  kTouchedElsewhere,  // another thread touched the page first, on its own node
  kThreadMoved,       // the thread that touched it runs on another node now
  kPageMoved,         // by the kernel's NUMA balancing, or by move_pages or migrate_pages
  kPolicy,            // mbind, set_mempolicy, numactl
  kNodeFull,          // the node that was wanted had no free page
  kHugePage,          // one huge page holds what two nodes use
  kUnknown,
};

struct Cause {
  CauseKind kind = CauseKind::kUnknown;
  uint64_t samples = 0;  // remote ones that it explains
  Interval share;        // of the site's remote samples; 95 %, from the number of samples
  int32_t home = -1;     // node that most of these pages lie on
};

// Most samples first; they add up to the site's remote samples. Empty without any.
std::vector<Cause> CausesOf(const View& view, const SiteView& site);

// Samples of one cause, 0 when it is not among them.
uint64_t SamplesOf(const std::vector<Cause>& causes, CauseKind kind);

// "first touched on another node": after "it was"; and for JSON: "touched_elsewhere".
std::string_view CausePhrase(CauseKind kind);
std::string_view CauseKey(CauseKind kind);

// What in the profile says so: who touched it, which call, how full the node was.
std::string CauseEvidence(const View& view, const SiteView& site, const Cause& cause,
                          const Terminal& terminal);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_CAUSE_H_
