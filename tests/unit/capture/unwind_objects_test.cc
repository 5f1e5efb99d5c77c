// Loaded objects, the rule table, and libraries that come and go.
#include "agent/capture/unwind_objects.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <array>
#include <cstdlib>

#include "agent/capture/unwind_cfi.h"
#include "agent/capture/unwind_table.h"
#include "tests/unit/capture/stack_oracle.h"
#include "tests/unit/capture/unwind_builder.h"

namespace memagent::capture {
namespace {

uintptr_t AddressOf(const char* name) {
  return reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, name));
}

TEST(UnwindObjects, SnapshotAgreesWithLoader) {
  os::TakeObjectSnapshot();
  for (const uintptr_t ip : {AddressOf("qsort"), AddressOf("dlopen"), AddressOf("__cxa_throw"),
                             reinterpret_cast<uintptr_t>(&AddressOf)}) {
    const auto live = os::FindCodeObject(ip);
    const auto snapshot = os::FindInSnapshot(ip);
    ASSERT_TRUE(live && snapshot);
    EXPECT_EQ(live->start, snapshot->start);
    EXPECT_EQ(live->eh_frame_header, snapshot->eh_frame_header);
  }
  EXPECT_FALSE(os::FindInSnapshot(16));
  EXPECT_FALSE(os::FindCodeObject(16));
}

TEST(UnwindObjects, SegmentHoldsTheUnwindInformation) {
  const auto object = os::FindCodeObject(AddressOf("qsort"));
  ASSERT_TRUE(object);
  const MemoryView segment = SegmentOf(*object, object->eh_frame_header);
  EXPECT_TRUE(segment.Contains(object->eh_frame_header));
  EXPECT_LT(segment.bytes.size(), object->end - object->start);
  EXPECT_TRUE(SegmentOf(*object, object->end + 4096).bytes.empty());
}

// Every function of an object: its rule in the middle of its code.
struct Coverage {
  size_t functions = 0;
  size_t uncovered = 0;
};
Coverage CoverageOf(const char* symbol) {
  const auto object = os::FindCodeObject(AddressOf(symbol));
  const auto header =
      ParseEhFrameHeader(SegmentOf(*object, object->eh_frame_header).From(object->eh_frame_header));
  const MemoryView frames = SegmentOf(*object, header->eh_frame);
  Coverage coverage;
  for (size_t at = 4; at < header->table.bytes.size(); at += 8) {
    int32_t offset;
    memcpy(&offset, header->table.bytes.data() + at, sizeof(offset));
    const auto description =
        ParseDescription(frames, header->base + static_cast<uintptr_t>(int64_t{offset}));
    if (!description) continue;
    const auto rule =
        RuleFromDescription(*description, description->start + description->size_bytes / 2);
    ++coverage.functions;
    if (rule.kind() == RuleKind::kUncovered) ++coverage.uncovered;
  }
  return coverage;
}

TEST(UnwindObjects, RulesCoverSystemLibraries) {
  for (const char* symbol : {"qsort", "__tls_get_addr", "__cxa_throw"}) {
    const Coverage coverage = CoverageOf(symbol);
    printf("object of %s: %zu functions, %zu uncovered\n", symbol, coverage.functions,
           coverage.uncovered);
    EXPECT_GT(coverage.functions, 100u);
    // The loader's lazy-binding trampolines keep their CFA in rbx: 6 of 293 functions.
    EXPECT_LE(coverage.uncovered * 100, coverage.functions * 3) << symbol;
  }
}

TEST(UnwindTable, RuleIsTheSameBeforeAndAfterForgetting) {
  const uintptr_t ip = AddressOf("qsort") + 1;
  const UnwindRule first = LookUpRule(ip);
  EXPECT_EQ(LookUpRule(ip), first);
  const uint64_t generation = UnwindGeneration();
  ForgetRules();
  EXPECT_NE(UnwindGeneration(), generation);
  EXPECT_EQ(LookUpRule(ip), first);
}

TEST(UnwindTable, GenerationsWrapWithoutReusingOldRules) {
  const uintptr_t ip = AddressOf("qsort") + 1;
  const UnwindRule rule = LookUpRule(ip);
  for (int i = 0; i < (1 << 17) + 5; ++i) ForgetRules();
  EXPECT_NE(UnwindGeneration() >> kAddressBits, 0u);
  EXPECT_EQ(LookUpRule(ip), rule);
}

TEST(UnwindTable, AddressOutsideAllObjectsHasNoInfo) {
  EXPECT_EQ(LookUpRule(12345).kind(), RuleKind::kNoInfo);
}

// Against backtrace() alone: libunwind does not find the information of an object without PLTGOT.
Frames seen;
void SeeStack() {
  const FrameStart start = MEMAGENT_CALLER();
  StackCache* const cache = TestCache();
  seen = FramesOf(CaptureStack(start, cache));
  EXPECT_EQ(FramesOf(CaptureStack(start, cache)), seen);
  const Frames oracle = BacktraceFrom(start.pc);
  EXPECT_EQ(seen, oracle) << Describe(seen) << Describe(oracle);
}

// Loads a library whose function has a frame of `frame_bytes`, calls through it.
[[gnu::noinline]] uintptr_t CallThroughLibrary(uint32_t frame_bytes) {
  int descriptor = -1;
  const std::string path = PublishFile(BuildSharedObject(frame_bytes), descriptor);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  if (library == nullptr) return 0;
  const auto address = reinterpret_cast<uintptr_t>(dlsym(library, "f"));
  reinterpret_cast<void (*)(void (*)())>(address)(SeeStack);
  EXPECT_EQ(seen.empty() ? 0 : seen[0], address + 9);  // right after the call
  dlclose(library);
  close(descriptor);
  return address;
}

TEST(UnwindTable, LibraryAtTheAddressOfAClosedOneGetsItsOwnRules) {
  const uintptr_t first = CallThroughLibrary(1024 + 8);
  FlushStackCaches();
  const uintptr_t second = CallThroughLibrary(2048 + 8);
  FlushStackCaches();
  EXPECT_NE(first, 0u);
  if (first != second) GTEST_SKIP() << "the loader put the second library elsewhere";
}

}  // namespace
}  // namespace memagent::capture
