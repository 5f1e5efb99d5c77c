#include "agent/capture/stack_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <thread>

extern "C" void* __libc_stack_end;

namespace memagent::capture {
namespace {

TEST(StackMemory, ProbeTellsReadablePagesAndKeepsErrno) {
  auto* pages = static_cast<char*>(
      mmap(nullptr, 2 * kPageSize, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const auto address = reinterpret_cast<uintptr_t>(pages);
  mprotect(pages + kPageSize, kPageSize, PROT_NONE);
  errno = 4711;
  EXPECT_TRUE(IsPageReadable(address + 100));
  EXPECT_FALSE(IsPageReadable(address + kPageSize));
  munmap(pages, 2 * kPageSize);
  errno = 4711;
  EXPECT_FALSE(IsPageReadable(address));
  EXPECT_FALSE(IsPageReadable(0));
  EXPECT_FALSE(IsPageReadable(uintptr_t{1} << 63));
  EXPECT_FALSE(IsPageReadable(~uintptr_t{0}));
  EXPECT_EQ(errno, 4711);
}

uintptr_t Here() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }

void ExpectOwnStackProven() {
  ProvenPages pages{};
  pages.thread_pointer = ThreadPointer();
  const uintptr_t here = Here() & ~uintptr_t{15};
  StackReader reader(here, &pages);
  EXPECT_LE(pages.own_low, here);
  EXPECT_GT(pages.own_high, here);
  EXPECT_EQ(AlwaysReadableEnd(here, pages), pages.own_high & ~uintptr_t{7});
  uintptr_t value = 0;
  EXPECT_TRUE(reader.Load(here, value));
  EXPECT_FALSE(reader.Load(here + 1, value)) << "unaligned";
  EXPECT_FALSE(reader.Load(0, value));
  EXPECT_FALSE(reader.Load(~uintptr_t{7}, value));
  EXPECT_TRUE(reader.Load(here, value)) << "refused loads must not spoil the window";
}

TEST(StackMemory, OwnStackIsProvenInInitialThread) { ExpectOwnStackProven(); }

TEST(StackMemory, OwnStackIsProvenInOtherThreads) { std::thread(ExpectOwnStackProven).join(); }

TEST(StackMemory, OtherMemoryIsNotTakenForTheOwnStack) {
  constexpr size_t kSize = 8 * kPageSize;
  void* other = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const uintptr_t sp = reinterpret_cast<uintptr_t>(other) + kSize / 2;
  ProvenPages pages{};
  pages.thread_pointer = ThreadPointer();
  StackReader reader(sp, &pages);
  EXPECT_EQ(pages.own_high, 0u);
  EXPECT_EQ(AlwaysReadableEnd(sp, pages), sp) << "sp is the end of the page of the return address";
  uintptr_t value = 1;
  EXPECT_TRUE(reader.Load(sp + kSize / 2 - 8, value));
  EXPECT_EQ(value, 0u);
  munmap(other, kSize);
}

TEST(StackMemory, FirstFrameIsAtTheInitialStackPointer) {
  EXPECT_TRUE(IsFirstFrame(reinterpret_cast<uintptr_t>(__libc_stack_end)));
  EXPECT_FALSE(IsFirstFrame(Here()));
}

}  // namespace
}  // namespace memagent::capture
