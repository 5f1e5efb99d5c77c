// On which NUMA node does a page lie? Asked in batches, by the best means the kernel allows.
//
//   rung            asks                       refused when
//   move_pages      one call for 1024 pages    seccomp (Docker's default profile), no CONFIG_NUMA
//   get_mempolicy   one call for each page     the same, unless CAP_SYS_NICE is in the container
//   numa_maps       one answer per mapping     no CONFIG_NUMA, /proc hidden
//   none            -
//
// A rung that fails is left for good. A page that is not present has no node, and asking must not
// make it present: move_pages and numa_maps only look, but get_mempolicy(MPOL_F_ADDR) faults the
// page in (mm/mempolicy.c, lookup_node), so it is asked only for pages that /proc/self/pagemap says
// are present. Between the two the program may drop the page; then it is faulted in as its own next
// read would have done. Without pagemap that rung is passed over.
//
// A page that was only ever read is the kernel's one zero page and has no node of its own.
// move_pages says so; get_mempolicy would name the zero page's node, and numa_maps leaves it out.
// On these rungs a page that pagemap can't tell from it is unknown; after a fork that holds for
// private pages which parent and child still share.
//
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_OS_PAGE_NODES_H_
#define MEMAGENT_AGENT_OS_PAGE_NODES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "agent/base/containers.h"
#include "agent/base/types.h"
#include "agent/os/file.h"

namespace memagent::os {

enum class PageNodeRung : uint8_t { kMovePages, kGetMempolicy, kNumaMaps, kNone };
inline constexpr size_t kPageNodeRungCount = 4;

// The name the profile records: "move_pages", ...
std::string_view RungName(PageNodeRung rung);

enum class PageState : uint8_t { kUnknown, kOnNode, kNotPresent };

struct PageAnswer {
  PageState state = PageState::kUnknown;
  NodeId node = NodeId::kUnknown;  // set for kOnNode only
};

// What pagemap says of a page.
enum PagePresence : long { kAbsent = 0, kPresent = 1, kPerhapsZeroPage = 2 };

// The system calls, replaceable by a test. All return a negative errno on failure.
struct PageNodeCalls {
  void* context = nullptr;
  // status[i] = node or negative errno of pages[i].
  long (*move_pages)(void* context, std::span<const uint64_t> pages, int* status) = nullptr;
  // The node of one present page.
  long (*get_mempolicy)(void* context, uint64_t page) = nullptr;
  // A PagePresence.
  long (*presence)(void* context, uint64_t page) = nullptr;
  std::optional<base::String> (*read_numa_maps)(void* context) = nullptr;
};

// Pure: what one line of numa_maps says ("7f12... default file=/x mapped=3 N0=2 N1=1").
struct NumaMapping {
  uint64_t start = 0;
  NodeId only_node = NodeId::kUnknown;  // kUnknown: pages on several nodes, or on none
};
std::optional<NumaMapping> ParseNumaMapsLine(std::string_view line);

class PageNodes {
 public:
  // The real system calls. `first` is the rung to begin with: lower ones are tried out by tests.
  explicit PageNodes(PageNodeRung first = PageNodeRung::kMovePages);
  explicit PageNodes(const PageNodeCalls& calls) : calls_(calls) {}
  PageNodes(const PageNodes&) = delete;
  PageNodes& operator=(const PageNodes&) = delete;

  // Looks `pages` (any address within each) up; answers[i] is for pages[i], both the same length.
  // With numa_maps the kernel walks all page tables on each call: make few, large batches.
  void Lookup(std::span<const uint64_t> pages, std::span<PageAnswer> answers);

  PageNodeRung rung() const { return rung_; }
  // Why `rung` was left: a positive errno, 0 when it was not.
  int ErrorOf(PageNodeRung rung) const { return errors_[static_cast<size_t>(rung)]; }

 private:
  long LookupOnRung(std::span<const uint64_t> pages, std::span<PageAnswer> answers);
  long ByMovePages(std::span<const uint64_t> pages, std::span<PageAnswer> answers);
  long ByMempolicy(std::span<const uint64_t> pages, std::span<PageAnswer> answers);
  long ByNumaMaps(std::span<const uint64_t> pages, std::span<PageAnswer> answers);
  void StepDown(long error);

  PageNodeCalls calls_;
  UniqueFd pagemap_;
  PageNodeRung rung_ = PageNodeRung::kMovePages;
  std::array<int, kPageNodeRungCount> errors_ = {};
};

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_PAGE_NODES_H_
