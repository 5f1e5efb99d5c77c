// Captures on unusual stacks: signal handlers, tiny threads, coroutines, wrong rbp, code without
// unwind information.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "tests/unit/capture/stack_oracle.h"

namespace memagent::capture {
namespace {

constexpr size_t kPage = 4096;

void* MapStack(size_t size) {
  return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void Install(int number, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(number, &action, nullptr);
}

void ComparingHandler(int) {
  ExpectSameStack(TestCache(), 1);
  asm volatile("");
}

[[gnu::noinline]] void Trap() {
  asm volatile("int3");
  asm volatile("");
}

TEST(StackCapture, SignalHandlerIsCrossed) {
  if (kThreadSanitizer) GTEST_SKIP() << "TSan delays signals and runs the handler itself";
  Install(SIGTRAP, ComparingHandler, 0);
  Trap();
  Install(SIGUSR1, ComparingHandler, 0);
  raise(SIGUSR1);
}

TEST(StackCapture, HandlerOnAlternateStackIsCrossed) {
  if (kThreadSanitizer) GTEST_SKIP() << "TSan delays signals and runs the handler itself";
  std::vector<char> memory(64 * 1024);
  stack_t stack{};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  sigaltstack(&stack, nullptr);
  Install(SIGTRAP, ComparingHandler, SA_ONSTACK);
  Trap();
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
}

std::atomic<int> timer_mismatches{0};
std::atomic<int> timer_captures{0};
std::atomic<int> timer_cut{0};

void TimerHandler(int) {
  const FrameStart start = MEMAGENT_CALLER();
  const StackId id = CaptureStack(start, nullptr);
  Frames frames = FramesOf(id);
  Frames oracle = BacktraceFrom(start.pc);
  timer_captures.fetch_add(1);
  if (StackWasCut(id)) {
    timer_cut.fetch_add(1);
    oracle.resize(std::min(oracle.size(), frames.size()));
  }
  if (!SameFrames(frames, oracle, 1)) timer_mismatches.fetch_add(1);
}

[[gnu::noinline]] uint64_t Busy(uint64_t seed, int depth) {
  char buffer[64];
  memset(buffer, static_cast<int>(seed), sizeof(buffer));
  asm volatile("" : : "r"(buffer) : "memory");
  if (depth > 0) seed += Busy(seed * 3, depth - 1);
  return seed + static_cast<unsigned char>(buffer[seed % 64]);
}

// The interrupted instruction is anywhere: in prologues, epilogues and the PLT.
TEST(StackCapture, InterruptedAnywhereMatchesBacktrace) {
  if (kThreadSanitizer) GTEST_SKIP() << "TSan delays signals and runs the handler itself";
  BacktraceFrom(0);  // glibc loads libgcc_s now, not in the handler
  Install(SIGALRM, TimerHandler, SA_RESTART);
  const itimerval on{{0, 500}, {0, 500}};
  const itimerval off{};
  setitimer(ITIMER_REAL, &on, nullptr);
  uint64_t sum = 0;
  while (timer_captures.load() < 400) sum += Busy(sum, 12);
  setitimer(ITIMER_REAL, &off, nullptr);
  EXPECT_EQ(timer_mismatches.load(), 0);
  EXPECT_LE(timer_cut.load(), 8);
}

void* CompareInThread(void*) {
  const FrameStart start = MEMAGENT_CALLER();
  static const StackId* expected = nullptr;
  static StackId id;
  id = CaptureStack(start, nullptr);
  expected = &id;
  return const_cast<StackId*>(expected);
}

TEST(StackCapture, ThreadOfSixteenKilobytesEndsAtClone) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 16384), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, CompareInThread, nullptr), 0);
  void* id = nullptr;
  pthread_join(thread, &id);
  const StackId stack = *static_cast<StackId*>(id);
  EXPECT_FALSE(StackWasCut(stack));
  EXPECT_GE(FramesOf(stack).size(), 2u);
}

ucontext_t main_context;
ucontext_t coroutine_context;
void (*coroutine_body)();

[[gnu::noinline]] void CoroutineEntry() {
  coroutine_body();
  asm volatile("");
}

void RunOnStack(void* stack, size_t size, void (*body)()) {
  coroutine_body = body;
  getcontext(&coroutine_context);
  coroutine_context.uc_stack.ss_sp = stack;
  coroutine_context.uc_stack.ss_size = size;
  coroutine_context.uc_link = &main_context;
  makecontext(&coroutine_context, CoroutineEntry, 0);
  swapcontext(&main_context, &coroutine_context);
}

TEST(StackCapture, CoroutineMatchesOraclesUpToItsEntry) {
  if (kThreadSanitizer) GTEST_SKIP() << "TSan does not know swapcontext";
  void* stack = MapStack(64 * 1024);
  RunOnStack(stack, 64 * 1024, [] { ExpectSameStack(TestCache()); });
  munmap(stack, 64 * 1024);
}

// The same addresses, once with a page of stack above and once with nothing mapped there.
TEST(StackCapture, CoroutineStackReplacedByShorterOneDoesNotFault) {
  if (kThreadSanitizer) GTEST_SKIP() << "TSan does not know swapcontext";
  constexpr size_t kLong = 4 * 64 * 1024;
  char* memory = static_cast<char*>(MapStack(kLong));
  for (int round = 0; round < 3; ++round) {
    mmap(memory, kLong, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    RunOnStack(memory, kLong, [] { ExpectSameStack(TestCache()); });
    munmap(memory + kLong / 2, kLong / 2);
    RunOnStack(memory, kLong / 2, [] { ExpectSameStack(TestCache()); });
  }
  munmap(memory, kLong / 2);
}

struct Painted {
  char* memory;
  char* frame;  // where the capturing function's frame starts
  StackCache* cache;
};
Painted painted;

// Fills everything below this frame, then captures.
[[gnu::noinline]] void CaptureOnPaint() {
  const FrameStart start = MEMAGENT_CALLER();
  painted.frame = static_cast<char*>(__builtin_frame_address(0));
  memset(painted.memory, 0x5a, static_cast<size_t>(painted.frame - painted.memory) - 512);
  CaptureStack(start, painted.cache);
}

// Bytes of stack that a capture used, including the frame of the function that asks for it.
size_t StackBytesUsed(StackCache* cache) {
  constexpr size_t kSize = 64 * 1024;
  painted.cache = cache;
  painted.memory = static_cast<char*>(MapStack(kSize));
  RunOnStack(painted.memory, kSize, CaptureOnPaint);
  size_t untouched = 0;
  while (painted.memory[untouched] == 0x5a) ++untouched;
  const auto used = static_cast<size_t>(painted.frame - painted.memory) - untouched;
  munmap(painted.memory, kSize);
  return used;
}

TEST(StackCapture, UsesLessThanTwoKilobytesOfStack) {
  if (kSanitizer) GTEST_SKIP() << "sanitizers enlarge frames";
  FlushStackCaches();  // rules are compiled again: the deepest path
  const size_t cached = StackBytesUsed(TestCache());
  FlushStackCaches();
  const size_t uncached = StackBytesUsed(nullptr);
  printf("stack bytes: %zu with a cache, %zu without\n", cached, uncached);
  EXPECT_LT(cached, 2048u);
  EXPECT_LT(uncached, 2048u);
}

// Calls `function` with rbp = `value`; its unwind information claims that rbp is its frame.
extern "C" void CallWithLyingFp(uintptr_t value, void (*function)());
// The same without any unwind information.
extern "C" void CallWithoutInfo(uintptr_t value, void (*function)());
asm(R"(
  .text
  .globl CallWithLyingFp
  .type CallWithLyingFp, @function
CallWithLyingFp:
  .cfi_startproc
  push %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_offset %rbp, -16
  mov %rdi, %rbp
  .cfi_def_cfa_register %rbp
  call *%rsi
  pop %rbp
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size CallWithLyingFp, .-CallWithLyingFp
  .globl CallWithoutInfo
  .type CallWithoutInfo, @function
CallWithoutInfo:
  push %rbp
  mov %rdi, %rbp
  call *%rsi
  pop %rbp
  ret
  .size CallWithoutInfo, .-CallWithoutInfo
)");

StackId captured;
void CaptureLeaf() {
  const FrameStart start = MEMAGENT_CALLER();
  StackCache* const cache = TestCache();
  captured = CaptureStack(start, cache);
  EXPECT_EQ(CaptureStack(start, cache), captured);
  EXPECT_EQ(CaptureStack(start, nullptr), captured);
}

TEST(StackCapture, GarbageFramePointerNeverFaultsAndCuts) {
  char* const pages = static_cast<char*>(MapStack(3 * kPage));
  mprotect(pages + kPage, kPage, PROT_NONE);
  const auto guard = reinterpret_cast<uintptr_t>(pages) + kPage;
  const uintptr_t values[] = {0,
                              1,
                              8,
                              0x1234567,
                              ~uintptr_t{0},
                              guard,
                              guard - 8,
                              guard - 16,
                              guard - 24,
                              guard + kPage - 16,
                              1ull << 47,
                              1ull << 63,
                              ~uintptr_t{0} - 15,
                              reinterpret_cast<uintptr_t>(&captured) & ~uintptr_t{7},
                              reinterpret_cast<uintptr_t>(&captured) + 3};
  for (const uintptr_t value : values) {
    CallWithLyingFp(value, CaptureLeaf);
    EXPECT_GE(FramesOf(captured).size(), 1u);
    CallWithoutInfo(value, CaptureLeaf);
    EXPECT_TRUE(StackWasCut(captured)) << value;
  }
  munmap(pages, 3 * kPage);
}

[[gnu::noinline]] void CallWithOwnFrame() {
  CallWithoutInfo(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)), CaptureLeaf);
  asm volatile("");
}

// rbp is still the caller's: the walk goes on, but the frame is counted as uncovered.
TEST(StackCapture, CodeWithoutInfoIsCrossedByValidFramePointerAndCounted) {
  const uint64_t before = ReadStackStatistics().uncovered_frames;
  CallWithOwnFrame();
  EXPECT_FALSE(StackWasCut(captured));
  EXPECT_GT(FramesOf(captured).size(), 4u);
  EXPECT_GT(ReadStackStatistics().uncovered_frames, before);
}

}  // namespace
}  // namespace memagent::capture
