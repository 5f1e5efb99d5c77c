#include "agent/aggregate/page_set.h"

#include <algorithm>

namespace memagent::aggregate {

void PageSet::EraseRange(uint64_t start, uint64_t size) {
  uint64_t page = (start + kPage - 1) / kPage;
  const uint64_t end = (start + size) / kPage;
  while (page < end) {
    const uint64_t block_end = (page / kBlockPages + 1) * kBlockPages;
    const uint64_t stop = std::min(end, block_end);
    const auto it = blocks_.find(page / kBlockPages);
    if (it != blocks_.end()) {
      if (page % kBlockPages == 0 && stop == block_end) {
        blocks_.erase(it);
      } else {
        for (uint64_t p = page; p < stop; ++p) {
          it->second[p % kBlockPages / 64] &= ~(uint64_t{1} << (p % 64));
        }
      }
    }
    page = stop;
  }
}

}  // namespace memagent::aggregate
