// What glibc's backtrace() and libunwind say about the stack, to hold captures against.
#ifndef MEMAGENT_TESTS_UNIT_CAPTURE_STACK_ORACLE_H_
#define MEMAGENT_TESTS_UNIT_CAPTURE_STACK_ORACLE_H_

#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <libunwind.h>

#include <algorithm>
#include <string>
#include <vector>

#include "agent/capture/frame_start.h"
#include "agent/capture/stack_capture.h"

#if defined(__has_feature)
#define MEMAGENT_HAS_FEATURE(feature) __has_feature(feature)
#else
#define MEMAGENT_HAS_FEATURE(feature) 0
#endif

namespace memagent::capture {

#if defined(__SANITIZE_THREAD__) || MEMAGENT_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || MEMAGENT_HAS_FEATURE(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
inline constexpr bool kSanitizer = kThreadSanitizer || kAddressSanitizer;

using Frames = std::vector<uintptr_t>;  // return addresses, innermost first

inline Frames FramesOf(StackId id) {
  Frames frames;
  StackNode node;
  for (; ReadStackNode(id, node); id = node.parent) frames.push_back(node.pc);
  return frames;
}

// glibc's own: a program linked with libunwind would get libunwind's weak `backtrace`.
inline int GlibcBacktrace(void** frames, int size) {
  using Function = int (*)(void**, int);
  static const auto function =
      reinterpret_cast<Function>(dlsym(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), "backtrace"));
  return function(frames, size);
}

// Cuts what is below the frame that returns to `first`, as a capture that starts there.
inline Frames From(Frames frames, uintptr_t first) {
  frames.erase(frames.begin(), std::find(frames.begin(), frames.end(), first));
  return frames;
}

inline Frames BacktraceFrom(uintptr_t first) {
  void* raw[1024];
  const int count = GlibcBacktrace(raw, 1024);
  Frames frames;
  for (int i = 0; i < count; ++i) frames.push_back(reinterpret_cast<uintptr_t>(raw[i]));
  return From(frames, first);
}

inline Frames LibunwindFrom(uintptr_t first) {
  unw_context_t context;
  unw_cursor_t cursor;
  unw_getcontext(&context);
  unw_init_local(&cursor, &context);
  Frames frames;
  do {
    unw_word_t ip = 0;
    unw_get_reg(&cursor, UNW_REG_IP, &ip);
    if (ip != 0) frames.push_back(ip);
  } while (unw_step(&cursor) > 0);
  return From(frames, first);
}

inline std::string Describe(const Frames& frames) {
  std::string text;
  for (uintptr_t pc : frames) {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(pc - 1), &info);
    char line[256];
    snprintf(line, sizeof(line), "  %#lx %s %s\n", static_cast<unsigned long>(pc),
             info.dli_sname != nullptr ? info.dli_sname : "?",
             info.dli_fname != nullptr ? info.dli_fname : "?");
    text += line;
  }
  return text;
}

// A capture writes the address a signal interrupted plus one (stack_walk.h); the oracles don't.
inline bool SameFrames(const Frames& captured, const Frames& oracle, size_t interrupted = 0) {
  if (captured.size() != oracle.size()) return false;
  size_t plus_one = 0;
  for (size_t i = 0; i < captured.size(); ++i) {
    if (captured[i] == oracle[i]) continue;
    if (captured[i] != oracle[i] + 1) return false;
    ++plus_one;
  }
  return plus_one == interrupted;
}

// Captures its caller's stack twice with `cache` (walk, then shape) and once without, and compares
// all with both oracles. Returns the frames.
[[gnu::noinline]] inline Frames ExpectSameStack(StackCache* cache, size_t interrupted = 0) {
  const FrameStart start = MEMAGENT_CALLER();
  const StackId walked = CaptureStack(start, cache);
  const StackId repeated = CaptureStack(start, cache);
  const StackId uncached = CaptureStack(start, nullptr);
  const Frames frames = FramesOf(walked);
  const Frames glibc = BacktraceFrom(start.pc);
  const Frames libunwind = LibunwindFrom(start.pc);
  EXPECT_EQ(walked, repeated);
  EXPECT_EQ(walked, uncached);
  EXPECT_FALSE(StackWasCut(walked));
  EXPECT_TRUE(SameFrames(frames, glibc, interrupted)) << "captured\n"
                                                      << Describe(frames) << "backtrace\n"
                                                      << Describe(glibc);
  EXPECT_TRUE(SameFrames(frames, libunwind, interrupted)) << "captured\n"
                                                          << Describe(frames) << "libunwind\n"
                                                          << Describe(libunwind);
  return frames;
}

// One cache for each test thread.
inline StackCache* TestCache() {
  thread_local StackCache* const cache = CreateStackCache();
  return cache;
}

}  // namespace memagent::capture

#endif  // MEMAGENT_TESTS_UNIT_CAPTURE_STACK_ORACLE_H_
