// A site's counts where not every block is tracked: unbiased estimates of what happened, with the
// variances of their errors.
//
// A tracked block that was picked with probability p stands for 1 / p blocks (D. G. Horvitz, D. J.
// Thompson, JASA 47, 1952). Blocks are picked independently, so the variance of such a sum of x / p
// is estimated without bias by the sum of (1 - p) / p^2 * x^2 over the picked blocks, and variances
// add up over sites. A block is picked at its birth or never: what is live is estimated, with its
// variance, from the picked blocks that are live, whatever happened to p since.
//
// Pure. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_SITE_ESTIMATE_H_
#define MEMAGENT_AGENT_RUNTIME_SITE_ESTIMATE_H_

#include <cstdint>

#include "agent/attribute/region_index.h"
#include "agent/ledger/allocation_sampler.h"
#include "agent/profile/model.h"

namespace memagent::runtime {

// Where every block was tracked the counts are exact and `sampled` holds no picked block.
struct SiteCount : attribute::RegionCounts {
  profile::SampledData sampled;
};

// The probability with which a block of that class was picked.
double PickProbability(ledger::PickClass how);

class SiteEstimate {
 public:
  // Adds what is known of blocks that were picked that way; the other site of the same stack.
  void Add(const attribute::RegionCounts& tracked, ledger::PickClass how);

  // What all of them stand for, and `certain` with them: blocks that could not be left out.
  SiteCount Total(const attribute::RegionCounts& certain) const;

 private:
  struct Sum {
    double blocks = 0;
    double bytes = 0;
    double blocks_variance = 0;
    double bytes_variance = 0;
    void Add(double blocks, double bytes, ledger::PickClass how);
  };

  Sum allocated_;
  Sum freed_;
  Sum live_;
  Sum inherited_;
  Sum peak_;
  uint64_t picked_allocations_ = 0;
  uint64_t picked_frees_ = 0;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_SITE_ESTIMATE_H_
