// A set of pages of the address space: one bit for each 4 KiB, in blocks of 32 MiB (1 KiB of bits).
//
// It keeps a page's first touch apart from later faults on it (copy-on-write, NUMA balancing, a
// zero page read first). Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_AGGREGATE_PAGE_SET_H_
#define MEMAGENT_AGENT_AGGREGATE_PAGE_SET_H_

#include <array>
#include <cstdint>

#include "agent/base/containers.h"

namespace memagent::aggregate {

class PageSet {
 public:
  // True when the page of `address` was not in the set before.
  bool Insert(uint64_t address) {
    uint64_t& word = WordOf(address);
    const uint64_t bit = uint64_t{1} << (address / kPage % 64);
    const bool fresh = (word & bit) == 0;
    word |= bit;
    return fresh;
  }

  // The same of all pages in [start, end), which are whole: how many were not in the set before.
  uint64_t InsertRange(uint64_t start, uint64_t end) {
    uint64_t fresh = 0;
    for (; start < end; start += kPage) fresh += Insert(start) ? 1 : 0;
    return fresh;
  }

  // Takes out the pages that lie wholly inside [start, start + size): they went back to the kernel.
  void EraseRange(uint64_t start, uint64_t size);

 private:
  static constexpr uint64_t kPage = 4096;
  static constexpr uint64_t kBlockPages = 8192;
  using Block = std::array<uint64_t, kBlockPages / 64>;

  uint64_t& WordOf(uint64_t address) {
    const uint64_t page = address / kPage;
    return blocks_[page / kBlockPages][page % kBlockPages / 64];
  }

  base::HashMap<uint64_t, Block> blocks_;
};

}  // namespace memagent::aggregate

#endif  // MEMAGENT_AGENT_AGGREGATE_PAGE_SET_H_
