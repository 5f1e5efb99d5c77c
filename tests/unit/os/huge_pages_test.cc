#include "agent/os/huge_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <fstream>
#include <string>

namespace memagent::os {
namespace {

constexpr size_t kHuge = size_t{2} << 20;

// Bytes of huge pages in the mapping that holds `address`, by smaps.
size_t HugeBytesAt(uint64_t address) {
  std::ifstream smaps("/proc/self/smaps");
  std::string line;
  bool inside = false;
  while (std::getline(smaps, line)) {
    uint64_t start = 0;
    uint64_t end = 0;
    if (sscanf(line.c_str(), "%lx-%lx ", &start, &end) == 2) {
      inside = address >= start && address < end;
    } else if (size_t kib = 0; inside && sscanf(line.c_str(), "AnonHugePages: %zu", &kib) == 1) {
      return kib << 10;
    }
  }
  return 0;
}

TEST(HugePages, SmallAndHugePagesAreToldApart) {
  auto* memory = static_cast<char*>(
      mmap(nullptr, 4 * kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  auto* huge = reinterpret_cast<char*>((reinterpret_cast<uint64_t>(memory) + kHuge - 1) & -kHuge);
  char* small = huge + kHuge;
  const HugePages pages;
  madvise(huge, kHuge, MADV_HUGEPAGE);
  madvise(small, kHuge, MADV_NOHUGEPAGE);
  EXPECT_FALSE(pages.IsHuge(reinterpret_cast<uint64_t>(small)));  // not present
  huge[5] = 1;
  small[5] = 1;
  const auto answer = pages.IsHuge(reinterpret_cast<uint64_t>(small));
  if (!answer) GTEST_SKIP() << "no PAGEMAP_SCAN: Linux before 6.7";
  EXPECT_FALSE(*answer);
  if (HugeBytesAt(reinterpret_cast<uint64_t>(huge)) == kHuge) {
    EXPECT_EQ(pages.IsHuge(reinterpret_cast<uint64_t>(huge) + 0x7123), true);
  }
  munmap(memory, 4 * kHuge);
}

}  // namespace
}  // namespace memagent::os
