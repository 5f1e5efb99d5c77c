// Allocation sites and their counters. A heap site is a call stack that allocates; other sites
// (globals, stacks, files) are made by the drain thread.
//
// Site ids are dense, from 1, at most kMaxSites. Host threads find the site of a stack with one
// load; the counters here are what thread-local deltas (counter_cache.h) are flushed into.
//
// Where blocks are picked by chance (allocation_sampler.h) a stack has further sites, one for each
// way of being picked, so that the counts of a site have one weight and a free finds the weight of
// its allocation. They are the ledger's own business: everybody else knows the primary site.
#ifndef MEMAGENT_AGENT_LEDGER_SITE_TABLE_H_
#define MEMAGENT_AGENT_LEDGER_SITE_TABLE_H_

#include <atomic>
#include <cstdint>

#include "agent/base/types.h"
#include "agent/ledger/allocation_sampler.h"

namespace memagent::ledger {

// 22 bits are kept for a site in a shadow slot (shadow_map.h).
inline constexpr uint32_t kMaxSites = (1u << 22) - 1;
// Stack ids above this have no look-up slot and are booked on site kUnknown (counted).
inline constexpr uint32_t kMaxStacks = 1u << 22;

// Totals of a site. Updated with relaxed atomics by any thread, read by the drain thread, which
// meets ids that are being made: `kind` is written last and never kUnknown in a site that exists, so
// whoever walks over all ids reads it first.
struct alignas(64) SiteCounters {
  std::atomic<RegionKind> kind;
  PickClass picked;  // not certain: a further site of the stack
  // What capture/placement.h decided for the site's blocks; 0: nothing yet. Any thread, always the
  // same.
  std::atomic<uint8_t> placement;
  StackId stack;
  std::atomic<uint64_t> allocations;
  std::atomic<uint64_t> frees;
  std::atomic<uint64_t> bytes_allocated;
  std::atomic<uint64_t> bytes_freed;
  std::atomic<int64_t> bytes_peak;
  // Live when this process was forked; the counts above start there. Written while it has one
  // thread.
  uint64_t inherited_blocks;
  uint64_t inherited_bytes;

  // Whether this is a further site; false for an id that is not one yet.
  bool of_picked_blocks() const { return kind != RegionKind::kUnknown && !picked.certain(); }
};
static_assert(sizeof(SiteCounters) == 64, "one cache line a site");

// The site of (kind, stack), made when new. kUnknown when a table is full or memory is refused.
// Kinds: kHeap, kMmap, kBrk, kShm. Calling thread: any, also in a hook; lock-free.
SiteId SiteOfStack(RegionKind kind, StackId stack);

// The further site of heap blocks of this stack that were picked that way; makes the primary one,
// too.
SiteId SiteOfPicked(StackId stack, PickClass picked);

// The site of the same stack that stands for all of them.
SiteId PrimarySite(SiteId site);

// A new site without a stack. Calling thread: drain thread.
SiteId NewSite(RegionKind kind);

// Counters of a site that exists; nullptr for kUnknown and ids not given out.
SiteCounters* CountersOf(SiteId site);

// In the child of fork, before it has another thread: what its parent allocated and freed is not
// its own, what is live is inherited.
void InheritLiveBlocks();

// Ids 1..SiteCount() were given out (one that is being made or was lost in a race has kind
// kUnknown).
uint32_t SiteCount();

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_SITE_TABLE_H_
