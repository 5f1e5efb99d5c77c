// Allocation counters of every site at one moment: the global totals plus what threads have not
// flushed yet. Where blocks are picked by chance, a primary site's are estimates that include the
// further sites of its stack (ledger/site_table.h). Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_SITE_COUNTS_H_
#define MEMAGENT_AGENT_RUNTIME_SITE_COUNTS_H_

#include <cstdint>

#include "agent/attribute/region_index.h"
#include "agent/base/containers.h"
#include "agent/base/types.h"
#include "agent/runtime/site_estimate.h"

namespace memagent::runtime {

class SiteCounts {
 public:
  // Reads the ledger now. Host threads run on: a thread in the middle of a flush may be seen twice
  // or not at all for that one entry; the next checkpoint corrects it. Sites made later count
  // nothing: whoever reads the stacks after this moment has those of all sites that count.
  explicit SiteCounts(const attribute::RegionIndex& regions);

  // Of a primary site.
  SiteCount Of(SiteId site) const;
  // Blocks that were or are tracked.
  uint64_t allocations() const { return allocations_; }
  uint64_t live_blocks() const { return live_blocks_; }

 private:
  struct Delta {
    uint64_t allocations = 0;
    uint64_t frees = 0;
    uint64_t bytes_allocated = 0;
    uint64_t bytes_freed = 0;
    int64_t highest_peak = 0;  // of one thread's delta
  };

  void AddThreads();
  void Sum();
  // What was tracked under this site alone.
  attribute::RegionCounts Tracked(SiteId site) const;

  const attribute::RegionIndex& regions_;
  uint32_t last_site_ = 0;
  base::HashMap<uint32_t, Delta> deltas_;
  base::HashMap<uint32_t, SiteEstimate> estimates_;  // by primary site
  uint64_t allocations_ = 0;
  uint64_t live_blocks_ = 0;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_SITE_COUNTS_H_
