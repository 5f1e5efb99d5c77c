// Whether a page is part of a huge one (transparent, mapped as a whole, or of hugetlbfs), as
// PAGEMAP_SCAN tells: from Linux 6.7 on, without privileges. Older kernels tell no process of its own
// pages what a page costs to ask for: then nothing is asked.
//
// Calling thread: the drain thread. Holds a descriptor: for one batch of questions only.
#ifndef MEMAGENT_AGENT_OS_HUGE_PAGES_H_
#define MEMAGENT_AGENT_OS_HUGE_PAGES_H_

#include <cstdint>
#include <optional>

#include "agent/os/file.h"

namespace memagent::os {

class HugePages {
 public:
  HugePages();

  // nullopt: not present, or the kernel can't tell.
  std::optional<bool> IsHuge(uint64_t address) const;

 private:
  UniqueFd pagemap_;
};

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_HUGE_PAGES_H_
