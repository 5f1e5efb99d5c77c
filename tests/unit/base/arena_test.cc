#include "agent/base/arena.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

namespace memagent::base {
namespace {

bool IsZero(const char* start, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (start[i] != 0) return false;
  }
  return true;
}

TEST(Arena, BlocksAreZeroedAlignedAndApart) {
  std::map<char*, size_t> blocks;
  for (size_t i = 0; i < 3000; ++i) {
    const size_t size = 1 + i * 37 % 5000;
    const size_t alignment = size_t{1} << i % 13;
    auto* block = static_cast<char*>(ArenaAllocate(size, alignment));
    ASSERT_NE(block, nullptr);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(block) % alignment, 0u);
    ASSERT_TRUE(IsZero(block, size));
    memset(block, 0xff, size);
    blocks[block] = size;
  }
  char* end = nullptr;
  for (const auto& [start, size] : blocks) {
    ASSERT_GE(start, end);
    end = start + size;
  }
}

TEST(Arena, LargeBlockHasAMappingOfItsOwn) {
  const size_t before = BytesMapped();
  auto* block = static_cast<char*>(ArenaAllocate(size_t{1} << 20, 4096));
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 4096, 0u);
  EXPECT_EQ(BytesMapped(), before + (size_t{1} << 20));
}

TEST(Arena, RefusedMemoryIsNullAndErrnoStays) {
  const size_t before = BytesMapped();
  errno = 123;
  EXPECT_EQ(MapPages(size_t{1} << 60, MemoryUse::kArena), nullptr);
  EXPECT_EQ(ArenaAllocate(size_t{1} << 60), nullptr);
  EXPECT_EQ(errno, 123);
  EXPECT_EQ(BytesMapped(), before);
}

TEST(Arena, UnmappedPagesAreNoLongerCounted) {
  const size_t before = BytesMapped();
  void* pages = MapPages(8192, MemoryUse::kIndex);
  EXPECT_EQ(BytesMapped(), before + 8192);
  UnmapPages(pages, 8192, MemoryUse::kIndex);
  EXPECT_EQ(BytesMapped(), before);
}

TEST(Arena, ThreadsNeverShareABlock) {
  constexpr size_t kThreads = 4;
  std::vector<std::vector<uint64_t*>> blocks(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&mine = blocks[i], i] {
      for (uint64_t round = 0; round < 20'000; ++round) {
        auto* block = static_cast<uint64_t*>(ArenaAllocate(64, 8));
        *block = i << 32 | round;
        mine.push_back(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < kThreads; ++i) {
    for (uint64_t round = 0; round < blocks[i].size(); ++round) {
      ASSERT_EQ(*blocks[i][round], i << 32 | round);
    }
  }
}

}  // namespace
}  // namespace memagent::base
