// Where the pages of a piece of memory shall lie: mbind, madvise and the pages they concern.
//
// Raw system calls: errno stays. What can fail returns 0 or a negative errno. Calling thread: any,
// also inside a hook.
#ifndef MEMAGENT_AGENT_OS_MEMORY_PLACEMENT_H_
#define MEMAGENT_AGENT_OS_MEMORY_PLACEMENT_H_

#include <cstdint>
#include <span>

namespace memagent::os {

// Whole pages, [start, end).
struct PageRange {
  uint64_t start = 0;
  uint64_t end = 0;
  bool empty() const { return start >= end; }
  uint64_t bytes() const { return empty() ? 0 : end - start; }
  bool operator==(const PageRange&) const = default;
};

// The pages that lie wholly inside a block: those at its ends may hold other blocks, too.
PageRange PagesInside(uint64_t start, uint64_t size, uint64_t page_bytes);

// Part `index` of `count` nearly equal ones, cut between pages; they leave nothing out.
PageRange PartOf(const PageRange& pages, uint32_t index, uint32_t count, uint64_t page_bytes);

// Whether a page of the range may be in memory: true also where the kernel won't say, and where
// none is in the first GiB of a larger range.
bool MayHavePages(const PageRange& pages, uint64_t page_bytes);

enum class PolicyMode : uint8_t {
  kDefault,     // the thread's own
  kPreferred,   // these nodes, and others only when they are full
  kInterleave,  // page by page round these nodes
  kLocal,       // the node of whoever touches a page first
};

// For pages that are touched from now on; with `move` those that are there go, too, as far as the
// kernel can. Nodes are below kNodeLimit.
inline constexpr uint32_t kNodeLimit = 1024;
long SetPolicy(const PageRange& pages, PolicyMode mode, std::span<const uint16_t> nodes, bool move);

// Moves the pages that are there round the nodes, page by page: a policy that names the node where
// a page lies lets it stay (mm/mempolicy.c, queue_pages_range with MPOL_MF_INVERT). Of the first 64
// GiB only. Returns the first error; a page that is pinned or shared stays, and is none.
long MoveRoundNodes(const PageRange& pages, uint64_t page_bytes, std::span<const uint16_t> nodes);

// Whether huge pages are wanted there.
long AdviseHugePages(const PageRange& pages, bool wanted);

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_MEMORY_PLACEMENT_H_
