#include "agent/os/memory_placement.h"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace memagent::os {
namespace {

constexpr uint64_t kPage = 4096;

TEST(PagesInside, EndsThatAreSharedAreLeftOut) {
  EXPECT_EQ(PagesInside(0x1010, 0x3000, kPage), (PageRange{0x2000, 0x4000}));
  EXPECT_EQ(PagesInside(0x1000, 0x3000, kPage), (PageRange{0x1000, 0x4000}));
  EXPECT_EQ(PagesInside(0x1001, 0x2fff, kPage), (PageRange{0x2000, 0x4000}));
}

TEST(PagesInside, BlockWithoutAWholePageHasNone) {
  EXPECT_TRUE(PagesInside(0x1010, 0xff0, kPage).empty());
  EXPECT_TRUE(PagesInside(0x1010, 0x1000, kPage).empty());
  EXPECT_TRUE(PagesInside(0x1010, 0, kPage).empty());
  EXPECT_EQ(PagesInside(0x1010, 0x1000, kPage).bytes(), 0u);
}

TEST(PartOf, PartsLeaveNothingOutAndNothingTwice) {
  const PageRange pages = {0x10000, 0x10000 + 10 * kPage};
  uint64_t at = pages.start;
  for (uint32_t i = 0; i < 4; ++i) {
    const PageRange part = PartOf(pages, i, 4, kPage);
    EXPECT_EQ(part.start, at);
    EXPECT_EQ(part.start % kPage, 0u);
    EXPECT_GE(part.bytes(), 2 * kPage);
    at = part.end;
  }
  EXPECT_EQ(at, pages.end);
}

TEST(PartOf, FewerPagesThanPartsLeaveSomeEmpty) {
  const PageRange pages = {0x10000, 0x10000 + 2 * kPage};
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < 4; ++i) bytes += PartOf(pages, i, 4, kPage).bytes();
  EXPECT_EQ(bytes, pages.bytes());
}

class MemoryPlacementTest : public testing::Test {
 protected:
  static constexpr uint64_t kBytes = 1024 * kPage;
  void SetUp() override {
    void* memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    madvise(memory, kBytes, MADV_NOHUGEPAGE);
    pages_ = {reinterpret_cast<uint64_t>(memory), reinterpret_cast<uint64_t>(memory) + kBytes};
  }
  void TearDown() override { munmap(reinterpret_cast<void*>(pages_.start), kBytes); }

  // The policy's mode; -1: the kernel does not say.
  static int ModeAt(uint64_t address) {
    int mode = -1;
    unsigned long nodes[16] = {};
    const long result = syscall(SYS_get_mempolicy, &mode, nodes, 1024, address, MPOL_F_ADDR);
    return result == 0 ? mode : -1;
  }
  void SkipWhereRefused(long result) {
    if (result == -EPERM || result == -ENOSYS) GTEST_SKIP() << "mbind is refused here";
  }

  PageRange pages_;
};

TEST_F(MemoryPlacementTest, PolicyIsInForceWhereItWasSetAndTakenBack) {
  const std::vector<uint16_t> nodes = {0};
  const PageRange half = {pages_.start, pages_.start + kBytes / 2};
  const long result = SetPolicy(half, PolicyMode::kInterleave, nodes, false);
  SkipWhereRefused(result);
  ASSERT_EQ(result, 0);
  EXPECT_EQ(ModeAt(pages_.start), MPOL_INTERLEAVE);
  EXPECT_EQ(ModeAt(half.end), MPOL_DEFAULT);
  EXPECT_EQ(SetPolicy(half, PolicyMode::kDefault, {}, false), 0);
  EXPECT_EQ(ModeAt(pages_.start), MPOL_DEFAULT);
}

TEST_F(MemoryPlacementTest, OneNodeIsPreferredNotForced) {
  const std::vector<uint16_t> nodes = {0};
  const long result = SetPolicy(pages_, PolicyMode::kPreferred, nodes, true);
  SkipWhereRefused(result);
  ASSERT_EQ(result, 0);
  EXPECT_EQ(ModeAt(pages_.start), MPOL_PREFERRED);
  EXPECT_EQ(SetPolicy(pages_, PolicyMode::kLocal, {}, false), 0);
  EXPECT_EQ(ModeAt(pages_.start), MPOL_LOCAL);
}

TEST_F(MemoryPlacementTest, NodeThatIsNotThereIsRefusedAndErrnoStays) {
  errno = 77;
  const std::vector<uint16_t> nodes = {1023};
  EXPECT_LT(SetPolicy(pages_, PolicyMode::kInterleave, nodes, false), 0);
  EXPECT_EQ(errno, 77);
}

TEST_F(MemoryPlacementTest, PagesAreThereOnceTouched) {
  EXPECT_FALSE(MayHavePages(pages_, kPage));
  *reinterpret_cast<volatile char*>(pages_.end - 1) = 1;
  EXPECT_TRUE(MayHavePages(pages_, kPage));
  EXPECT_FALSE(MayHavePages({pages_.start, pages_.end - kPage}, kPage));
}

TEST_F(MemoryPlacementTest, PagesOfLargeMemoryMayAlwaysBeThere) {
  constexpr uint64_t kLarge = uint64_t{1} << 40;
  void* memory =
      mmap(nullptr, kLarge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "no room for 1 TiB of addresses";
  const auto start = reinterpret_cast<uint64_t>(memory);
  EXPECT_TRUE(MayHavePages({start, start + kLarge}, kPage));
  munmap(memory, kLarge);
}

TEST_F(MemoryPlacementTest, PagesMoveRoundNodesAndKeepWhatIsInThem) {
  const std::vector<uint16_t> nodes = {0};
  EXPECT_EQ(MoveRoundNodes(pages_, kPage, {}), 0);
  for (uint64_t at = pages_.start; at < pages_.end; at += 3 * kPage) {
    *reinterpret_cast<volatile uint64_t*>(at) = at;
  }
  const long result = MoveRoundNodes(pages_, kPage, nodes);
  SkipWhereRefused(result);
  EXPECT_EQ(result, 0);
  for (uint64_t at = pages_.start; at < pages_.end; at += 3 * kPage) {
    EXPECT_EQ(*reinterpret_cast<volatile uint64_t*>(at), at);
  }
}

TEST_F(MemoryPlacementTest, HugePagesAreAdvised) {
  const long result = AdviseHugePages(pages_, true);
  EXPECT_TRUE(result == 0 || result == -EINVAL) << result;  // a kernel without them
}

}  // namespace
}  // namespace memagent::os
