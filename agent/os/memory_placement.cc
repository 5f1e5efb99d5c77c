#include "agent/os/memory_placement.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>

#include <algorithm>

#include "agent/base/syscall.h"

namespace memagent::os {
namespace {

using base::Syscall;

// MPOL_PREFERRED_MANY, Linux 5.15; headers of before lack it.
constexpr int kPreferredMany = 5;

int ModeOf(PolicyMode mode, size_t node_count) {
  switch (mode) {
    case PolicyMode::kPreferred:
      return node_count == 1 ? static_cast<int>(MPOL_PREFERRED) : kPreferredMany;
    case PolicyMode::kInterleave:
      return MPOL_INTERLEAVE;
    case PolicyMode::kLocal:
      return MPOL_LOCAL;
    case PolicyMode::kDefault:
      break;
  }
  return MPOL_DEFAULT;
}

}  // namespace

PageRange PagesInside(uint64_t start, uint64_t size, uint64_t page_bytes) {
  const uint64_t first = (start + page_bytes - 1) / page_bytes * page_bytes;
  const uint64_t end = (start + size) / page_bytes * page_bytes;
  return first < end ? PageRange{first, end} : PageRange{};
}

PageRange PartOf(const PageRange& pages, uint32_t index, uint32_t count, uint64_t page_bytes) {
  const uint64_t all = pages.bytes() / page_bytes;
  const auto cut = [&](uint64_t part) { return pages.start + all * part / count * page_bytes; };
  return {cut(index), cut(uint64_t{index} + 1)};
}

// mincore tells for 2 MiB in one call, 0.3 us where nothing is mapped.
bool HasPages(const PageRange& pages, uint64_t page_bytes) {
  constexpr uint64_t kPagesAtOnce = 512;
  unsigned char present[kPagesAtOnce];
  for (uint64_t at = pages.start; at < pages.end; at += kPagesAtOnce * page_bytes) {
    const uint64_t bytes = std::min(pages.end - at, kPagesAtOnce * page_bytes);
    if (Syscall(SYS_mincore, at, bytes, present) != 0) return false;
    unsigned char* const end = present + bytes / page_bytes;
    if (std::any_of(present, end, [](unsigned char page) { return (page & 1) != 0; })) return true;
  }
  return false;
}

// The kernel takes one bit fewer than it is told (get_nodes in mm/mempolicy.c).
long SetPolicy(const PageRange& pages, PolicyMode mode, std::span<const uint16_t> nodes,
               bool move) {
  uint64_t mask[kNodeLimit / 64] = {};
  for (const uint16_t node : nodes) {
    if (node < kNodeLimit) mask[node / 64] |= uint64_t{1} << (node % 64);
  }
  const uint64_t* list = nodes.empty() ? nullptr : mask;
  return Syscall(SYS_mbind, pages.start, pages.bytes(), ModeOf(mode, nodes.size()), list,
                 nodes.empty() ? 0 : kNodeLimit + 1, move ? MPOL_MF_MOVE : 0);
}

long AdviseHugePages(const PageRange& pages, bool wanted) {
  return Syscall(SYS_madvise, pages.start, pages.bytes(), wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

}  // namespace memagent::os
