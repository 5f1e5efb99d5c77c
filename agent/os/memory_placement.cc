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

// mincore tells for 2 MiB in one call, 0.3 us where nothing is mapped: a GiB takes 0.15 ms.
bool MayHavePages(const PageRange& pages, uint64_t page_bytes) {
  constexpr uint64_t kPagesAtOnce = 512;
  constexpr uint64_t kMostCalls = 512;
  unsigned char present[kPagesAtOnce];
  const uint64_t step = kPagesAtOnce * page_bytes;
  const uint64_t end = std::min(pages.end, pages.start + kMostCalls * step);
  for (uint64_t at = pages.start; at < end; at += step) {
    const uint64_t bytes = std::min(end - at, step);
    if (Syscall(SYS_mincore, at, bytes, present) != 0) return true;
    unsigned char* const last = present + bytes / page_bytes;
    if (std::any_of(present, last, [](unsigned char page) { return (page & 1) != 0; })) return true;
  }
  return end < pages.end;
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

namespace {

// A batch of pages to move, on the stack of a thread of the program: 1.3 KiB.
struct Batch {
  static constexpr size_t kMost = 64;
  uint64_t address[kMost];
  int32_t node[kMost];
  int32_t status[kMost];
  size_t count = 0;

  void Add(uint64_t page, uint16_t target) {
    address[count] = page;
    node[count++] = target;
  }
  long Move() {
    if (count == 0) return 0;
    const long result = Syscall(SYS_move_pages, 0, count, address, node, status, MPOL_MF_MOVE);
    count = 0;
    return std::min(result, 0L);  // above 0: so many stayed
  }
};

}  // namespace

long MoveRoundNodes(const PageRange& pages, uint64_t page_bytes, std::span<const uint16_t> nodes) {
  constexpr uint64_t kMostBytes = uint64_t{64} << 30;
  if (nodes.empty()) return 0;
  const uint64_t end = std::min(pages.end, pages.start + kMostBytes);
  const uint64_t step = Batch::kMost * page_bytes;
  Batch batch;
  unsigned char present[Batch::kMost];
  for (uint64_t at = pages.start; at < end; at += step) {
    const uint64_t count = std::min(end - at, step) / page_bytes;
    if (const long error = Syscall(SYS_mincore, at, count * page_bytes, present); error < 0) {
      return error;
    }
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t page = at + i * page_bytes;
      if ((present[i] & 1) != 0) batch.Add(page, nodes[page / page_bytes % nodes.size()]);
    }
    if (const long error = batch.Move(); error < 0) return error;
  }
  return 0;
}

long AdviseHugePages(const PageRange& pages, bool wanted) {
  return Syscall(SYS_madvise, pages.start, pages.bytes(), wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

}  // namespace memagent::os
