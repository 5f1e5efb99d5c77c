#include "agent/os/self_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <vector>

namespace memagent::os {
namespace {

// Two readable pages followed by one that is not mapped.
class SelfMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    pages_ = static_cast<std::byte*>(
        mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(pages_, MAP_FAILED);
    for (size_t i = 0; i < 2 * kPage; ++i) pages_[i] = static_cast<std::byte>(i * 7);
    munmap(pages_ + 2 * kPage, kPage);
  }
  void TearDown() override { munmap(pages_, 2 * kPage); }

  uint64_t address(size_t offset) const { return reinterpret_cast<uint64_t>(pages_) + offset; }

  static constexpr size_t kPage = 4096;
  std::byte* pages_ = nullptr;
};

TEST_F(SelfMemory, MappedRangeIsReadWhole) {
  std::vector<std::byte> out(kPage + 100);
  EXPECT_EQ(ReadSelf(address(50), out), out.size());
  EXPECT_EQ(std::memcmp(out.data(), pages_ + 50, out.size()), 0);
}

TEST_F(SelfMemory, RangeIntoUnmappedPageGivesReadablePrefix) {
  std::vector<std::byte> out(2 * kPage);
  EXPECT_EQ(ReadSelf(address(kPage + 10), out), kPage - 10);
  EXPECT_EQ(std::memcmp(out.data(), pages_ + kPage + 10, kPage - 10), 0);
}

TEST_F(SelfMemory, ProcFileGivesTheSameAsSystemCall) {
  std::vector<std::byte> out(2 * kPage);
  EXPECT_EQ(ReadSelfThroughProc(address(kPage + 10), out), kPage - 10);
  EXPECT_EQ(std::memcmp(out.data(), pages_ + kPage + 10, kPage - 10), 0);
}

TEST_F(SelfMemory, UnmappedOrUnreadableAddressGivesNothing) {
  std::array<std::byte, 16> out = {};
  EXPECT_EQ(ReadSelf(address(2 * kPage), out), 0u);
  EXPECT_EQ(ReadSelf(0, out), 0u);
  EXPECT_EQ(ReadSelf(~uint64_t{0} - 8, out), 0u);
  EXPECT_EQ(ReadSelfThroughProc(address(2 * kPage), out), 0u);
  mprotect(pages_, kPage, PROT_NONE);
  EXPECT_EQ(ReadSelf(address(0), out), 0u);
  mprotect(pages_, kPage, PROT_READ);
}

TEST_F(SelfMemory, LongRangeNeedsSeveralCallsAndIsWhole) {
  const std::vector<std::byte> in(100 * kPage, std::byte{0x5a});
  std::vector<std::byte> out(in.size());
  EXPECT_EQ(ReadSelf(reinterpret_cast<uint64_t>(in.data()), out), out.size());
  EXPECT_EQ(in, out);
}

TEST_F(SelfMemory, EmptyReadIsNothing) { EXPECT_EQ(ReadSelf(address(0), {}), 0u); }

TEST_F(SelfMemory, ValueIsReadWholeOrNotAtAll) {
  uint64_t value = 0;
  EXPECT_TRUE(ReadSelfValue(address(8), value));
  EXPECT_EQ(std::memcmp(&value, pages_ + 8, 8), 0);
  EXPECT_FALSE(ReadSelfValue(address(2 * kPage - 4), value));
}

}  // namespace
}  // namespace memagent::os
