// Captures against glibc's backtrace() and libunwind on ordinary stacks of -O2 code.
#include "agent/capture/stack_capture.h"

#include <alloca.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "tests/unit/capture/stack_oracle.h"

namespace memagent::capture {
namespace {

// Keeps calls from becoming jumps and frames from being merged.
void Opaque(void* p) { asm volatile("" : : "r"(p) : "memory"); }

[[gnu::noinline]] int Recurse(int depth, void (*leaf)()) {
  if (depth == 0) {
    leaf();
    return 0;
  }
  const int result = Recurse(depth - 1, leaf) + depth;
  asm volatile("");
  return result;
}

void ComparedLeaf() {
  ExpectSameStack(TestCache());
  asm volatile("");
}

TEST(StackCapture, RecursionWithoutFramePointersMatchesOracles) {
  for (int depth : {0, 1, 5, 16, 40, 90}) Recurse(depth, ComparedLeaf);
}

int CompareInts(const void* a, const void* b) {
  static bool done = false;
  if (!done) ExpectSameStack(TestCache());
  done = true;
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

TEST(StackCapture, QsortCallbackCrossesLibcFrames) {
  int numbers[] = {3, 1, 2, 5, 4};
  qsort(numbers, 5, sizeof(int), CompareInts);
}

TEST(StackCapture, SortPredicateMatchesOracles) {
  std::vector<int> numbers(100);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i * 37 % 101);
  int calls = 0;
  std::sort(numbers.begin(), numbers.end(), [&calls](int a, int b) {
    if (++calls % 50 == 1) ExpectSameStack(TestCache());
    return a < b;
  });
}

[[gnu::noinline]] void WithAlloca(size_t size, void (*leaf)()) {
  Opaque(alloca(size));
  leaf();
  asm volatile("");
}

TEST(StackCapture, AllocaFrameUsesFramePointerRule) {
  for (size_t size : {16, 100, 5000}) WithAlloca(size, ComparedLeaf);
}

[[gnu::noinline]] void WithRealignment(void (*leaf)()) {
  alignas(64) char buffer[64];
  Opaque(buffer);
  leaf();
  Opaque(buffer);
}

// Aligned locals, alloca and stack arguments together make gcc address the frame through a saved
// copy of the old stack pointer: CFA = *(rbp - 8).
[[gnu::noinline]] void WithRealignedAlloca(int, int, int, int, int, int, size_t size,
                                           void (*leaf)()) {
  alignas(64) char buffer[64];
  Opaque(buffer);
  Opaque(alloca(size));
  leaf();
  Opaque(buffer);
  Opaque(&size);
}

TEST(StackCapture, RealignedFramesMatchOracles) {
  WithRealignment(ComparedLeaf);
  WithRealignedAlloca(1, 2, 3, 4, 5, 6, 300, ComparedLeaf);
}

[[gnu::noinline]] void WithHugeFrame(void (*leaf)()) {
  char buffer[700 * 1024];
  Opaque(buffer);
  leaf();
  Opaque(buffer);
}

TEST(StackCapture, FrameOfSevenHundredKilobytesMatchesOracles) { WithHugeFrame(ComparedLeaf); }

StackId last_stack;
void CapturingLeaf() {
  const FrameStart start = MEMAGENT_CALLER();
  last_stack = CaptureStack(start, TestCache());
  EXPECT_EQ(CaptureStack(start, nullptr), last_stack);
}

TEST(StackCapture, DeeperThanLimitKeepsInnermostFramesAndIsCut) {
  Recurse(500, CapturingLeaf);
  const Frames frames = FramesOf(last_stack);
  EXPECT_EQ(frames.size(), kMaxStackDepth);
  EXPECT_TRUE(StackWasCut(last_stack));
  for (size_t i = 2; i + 1 < frames.size(); ++i) EXPECT_EQ(frames[i], frames[i + 1]);
  Recurse(10, CapturingLeaf);
  EXPECT_FALSE(StackWasCut(last_stack));
}

[[gnu::noinline]] StackId CaptureFromHere() {
  const FrameStart start = MEMAGENT_CALLER();
  return CaptureStack(start, TestCache());
}
[[gnu::noinline]] StackId Callee() {
  const StackId id = CaptureFromHere();
  asm volatile("");
  return id;
}
// What stands before and after the calls differs, so that compilers don't merge them.
[[gnu::noinline]] StackId TwoCallSites(bool first) {
  StackId id;
  if (first) {
    asm volatile("");
    id = Callee();
    asm volatile("nop");
  } else {
    asm volatile("nop");
    id = Callee();
    asm volatile("");
  }
  return id;
}

TEST(StackCapture, TwoCallSitesInOneCallerAreTwoStacks) {
  StackId ids[2][2];
  for (int i = 0; i < 4; ++i) {
    Opaque(&i);  // not unrolled: one call site
    ids[i / 2][i % 2] = TwoCallSites(i % 2 == 0);
  }
  EXPECT_NE(ids[0][0], ids[0][1]);
  EXPECT_EQ(ids[0][0], ids[1][0]);
  EXPECT_EQ(ids[0][1], ids[1][1]);
}

TEST(StackCapture, ErrnoIsKept) {
  errno = 4711;
  CaptureFromHere();
  EXPECT_EQ(errno, 4711);
}

TEST(StackCapture, RepeatedStackIsCountedAsHit) {
  const StackStatistics before = ReadStackStatistics();
  for (int i = 0; i < 100; ++i) CaptureFromHere();
  const StackStatistics after = ReadStackStatistics();
  EXPECT_EQ(after.hits + after.misses - before.hits - before.misses, 100u);
  EXPECT_GE(after.hits - before.hits, 98u);
}

TEST(StackCapture, FlushForgetsShapesAndFindsTheSameStackAgain) {
  StackId ids[2];
  for (int i = 0; i < 2; ++i) {
    Opaque(&i);  // not unrolled: one call site
    ids[i] = CaptureFromHere();
    FlushStackCaches();
  }
  EXPECT_EQ(ids[0], ids[1]);
}

TEST(StackCapture, CacheHandedToAnotherThreadStaysRight) {
  StackCache* const cache = CreateStackCache();
  ExpectSameStack(cache);
  std::thread([cache] { ExpectSameStack(cache); }).join();
  ExpectSameStack(cache);
}

}  // namespace
}  // namespace memagent::capture
