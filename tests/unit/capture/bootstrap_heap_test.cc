#include "agent/capture/bootstrap_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <tuple>

namespace memagent::capture {
namespace {

// One test: the heap is one for the process and never gives memory back.
TEST(BootstrapHeap, BlocksAreAlignedZeroedApartAndRecognisedUntilTheHeapIsFull) {
  EXPECT_FALSE(IsBootstrapBlock(nullptr));
  EXPECT_FALSE(IsBootstrapBlock(&std::ignore));
  EXPECT_EQ(BootstrapAllocate(size_t{1} << 20, 16), nullptr);
  EXPECT_EQ(BootstrapAllocate(~size_t{0}, 16), nullptr);
  const uint64_t before = BootstrapAllocationCount();
  uint64_t allocations = 0;
  char* last_end = nullptr;
  for (size_t alignment : {size_t{1}, size_t{16}, size_t{64}, size_t{4096}, size_t{8192}}) {
    for (size_t size : {0, 1, 24, 500}) {
      auto* block = static_cast<char*>(BootstrapAllocate(size, alignment));
      ASSERT_NE(block, nullptr);
      ++allocations;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % std::max<size_t>(alignment, 16), 0u);
      EXPECT_TRUE(IsBootstrapBlock(block));
      EXPECT_EQ(BootstrapBlockSize(block), size);
      EXPECT_GE(block, last_end);
      EXPECT_TRUE(std::all_of(block, block + size, [](char c) { return c == 0; }));
      memset(block, 0xff, size);
      last_end = block + size;
    }
  }
  EXPECT_EQ(BootstrapAllocationCount(), before + allocations);
  while (BootstrapAllocate(1000, 16) != nullptr) {
  }
  EXPECT_EQ(BootstrapAllocate(1000, 16), nullptr);
}

}  // namespace
}  // namespace memagent::capture
