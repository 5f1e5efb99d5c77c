#include "agent/os/huge_pages.h"

#include <sys/ioctl.h>

#include "agent/base/syscall.h"
#include "agent/os/machine.h"

namespace memagent::os {
namespace {

// linux/fs.h from 6.7 on; headers of Debian 12 lack them.
struct PageRegion {
  uint64_t start;
  uint64_t end;
  uint64_t categories;
};
struct PagemapScan {
  uint64_t size;
  uint64_t flags;
  uint64_t start;
  uint64_t end;
  uint64_t walk_end;
  uint64_t regions;
  uint64_t region_count;
  uint64_t max_pages;
  uint64_t category_inverted;
  uint64_t category_mask;
  uint64_t category_anyof_mask;
  uint64_t return_mask;
};
static_assert(sizeof(PagemapScan) == 96, "struct pm_scan_arg");
constexpr unsigned long kPagemapScan = _IOWR('f', 16, PagemapScan);
constexpr uint64_t kPageIsPresent = 1u << 3;
constexpr uint64_t kPageIsHuge = 1u << 6;

}  // namespace

HugePages::HugePages() : pagemap_(OpenRead("/proc/thread-self/pagemap")) {}

std::optional<bool> HugePages::IsHuge(uint64_t address) const {
  if (!pagemap_.valid()) return std::nullopt;
  PageRegion region = {};
  PagemapScan scan = {};
  scan.size = sizeof(scan);
  scan.start = address & ~uint64_t{PageBytes() - 1};
  scan.end = scan.start + PageBytes();
  scan.regions = reinterpret_cast<uint64_t>(&region);
  scan.region_count = 1;
  scan.category_mask = kPageIsPresent;
  scan.return_mask = kPageIsPresent | kPageIsHuge;
  // -ENOTTY: an older kernel. 0: no page that is present.
  const long found = base::Syscall(SYS_ioctl, pagemap_.get(), kPagemapScan, &scan);
  if (found != 1) return std::nullopt;
  return (region.categories & kPageIsHuge) != 0;
}

}  // namespace memagent::os
