// Rules against call stacks of this test's own executable.
#include "agent/capture/placement.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "agent/capture/stack_trie.h"
#include "agent/capture/unwind_objects.h"
#include "agent/ledger/site_table.h"

namespace memagent::capture {
namespace {

constexpr uint64_t kBytes = uint64_t{1} << 20;

[[gnu::noinline]] int OneFunction(int x) { return x * 3 + 1; }
[[gnu::noinline]] int AnotherFunction(int x) { return x * 5 + 2; }
uintptr_t PcIn(int (*function)(int)) { return reinterpret_cast<uintptr_t>(function) + 2; }

std::string FrameOf(uintptr_t pc) {
  const base::CodePlace place = PlaceOfCode(pc - 1);
  std::string text;
  char digits[40];
  for (const uint8_t byte : place.build_id) {
    snprintf(digits, sizeof(digits), "%02x", byte);
    text += digits;
  }
  if (text.empty()) {
    snprintf(digits, sizeof(digits), "headers=%016llx",
             static_cast<unsigned long long>(place.headers_key));
    text = digits;
  }
  snprintf(digits, sizeof(digits), ":%llx-%llx", static_cast<unsigned long long>(place.address),
           static_cast<unsigned long long>(place.address + 1));
  return text + digits;
}

// Rules are set once in a process: all tests share them.
class PlacementTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    static std::string lines[3] = {
        "whole\tone\tinterleave:0\tstack\t" + FrameOf(PcIn(OneFunction)) + "\t*",
        "some\tother\tbind:0\tany\t" + FrameOf(PcIn(AnotherFunction)),
        "parts\tthird\tblock:0+0\tstack\t" + FrameOf(PcIn(OneFunction) + 1) + "\t*"};
    static base::PlacementRule rules[3];
    for (int i = 0; i < 3; ++i) ASSERT_EQ(base::ParsePlacementRule(lines[i], rules[i]), "");
    SetPlacementRules(rules);
  }
  static void TearDownTestSuite() { SetPlacementRules({}); }
  void SetUp() override {
    ASSERT_TRUE(IsPlacing());
    ForgetPlacementCounts();
    memory_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory_, MAP_FAILED);
    start_ = reinterpret_cast<uint64_t>(memory_);
  }
  void TearDown() override { munmap(memory_, kBytes); }

  static int RuleOf(RegionKind kind, std::initializer_list<uintptr_t> outermost_first) {
    StackId stack = StackId::kNone;
    for (const uintptr_t pc : outermost_first) stack = InternFrame(stack, pc);
    return RuleOfStack(PlacementRules(), kind, stack, PlaceOfCode);
  }
  // The site of "inner called by outer called by a third".
  static SiteId SiteOf(RegionKind kind, std::initializer_list<uintptr_t> outermost_first) {
    StackId stack = StackId::kNone;
    for (const uintptr_t pc : outermost_first) stack = InternFrame(stack, pc);
    return ledger::SiteOfStack(kind, stack);
  }
  long Bind(uint64_t offset, uint64_t bytes) const {
    unsigned long node = 1;
    return syscall(SYS_mbind, start_ + offset, bytes, MPOL_BIND, &node, 64, 0);
  }
  int ModeAt(uint64_t offset) const {
    int mode = -1;
    unsigned long nodes[16] = {};
    syscall(SYS_get_mempolicy, &mode, nodes, 1024, start_ + offset, MPOL_F_ADDR);
    return mode;
  }

  void* memory_ = nullptr;
  uint64_t start_ = 0;
};

TEST_F(PlacementTest, PlaceOfCodeIsTheSameWhereverTheModuleLies) {
  Dl_info info = {};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(PcIn(OneFunction)), &info), 0);
  const base::CodePlace place = PlaceOfCode(PcIn(OneFunction));
  EXPECT_EQ(place.address, PcIn(OneFunction) - reinterpret_cast<uintptr_t>(info.dli_fbase));
  EXPECT_EQ(PlaceOfCode(16).address, 0u);
}

TEST_F(PlacementTest, FirstRuleThatMeansTheStackCounts) {
  const uintptr_t one = PcIn(OneFunction);
  const uintptr_t other = PcIn(AnotherFunction);
  EXPECT_EQ(RuleOf(RegionKind::kHeap, {16, one}), 0);
  EXPECT_EQ(RuleOf(RegionKind::kHeap, {32, 16, one}), kNoPlacement);
  EXPECT_EQ(RuleOf(RegionKind::kHeap, {other, one}), 0);
  EXPECT_EQ(RuleOf(RegionKind::kHeap, {other, 16, 16}), 1);
}

TEST_F(PlacementTest, FunctionMustMapMemoryItself) {
  const uintptr_t other = PcIn(AnotherFunction);
  EXPECT_EQ(RuleOf(RegionKind::kMmap, {16, other}), 1);
  EXPECT_EQ(RuleOf(RegionKind::kMmap, {other, 16}), kNoPlacement);
}

TEST_F(PlacementTest, SiteIsDecidedWithItsFirstBlock) {
  const SiteId site = SiteOf(RegionKind::kHeap, {48, PcIn(OneFunction)});
  EXPECT_EQ(PlacementOf(site), kPlacementUndecided);
  UnplaceBlock(site, start_, kBytes);  // a block from before the rules
  EXPECT_EQ(PlacementOf(site), kPlacementUndecided);
  PlaceBlock(site, start_, kBytes);
  EXPECT_EQ(PlacementOf(site), 0);
  UnplaceBlock(site, start_, kBytes);
  EXPECT_EQ(PlacementOf(SiteId::kUnknown), kNoPlacement);
}

TEST_F(PlacementTest, BlockIsPlacedAndItsMemoryGivenBack) {
  const SiteId site = SiteOf(RegionKind::kHeap, {16, PcIn(OneFunction)});
  PlaceBlock(site, start_ + 16, kBytes - 16);
  if (ReadPlacementCounts(0).refused_calls > 0) GTEST_SKIP() << "mbind is refused here";
  EXPECT_EQ(ModeAt(0), MPOL_DEFAULT);  // its page holds other memory, too
  EXPECT_EQ(ModeAt(4096), MPOL_INTERLEAVE);
  EXPECT_EQ(ModeAt(kBytes - 4096), MPOL_INTERLEAVE);
  UnplaceBlock(site, start_ + 16, kBytes - 16);
  EXPECT_EQ(ModeAt(4096), MPOL_DEFAULT);
  const PlacementCounts counts = ReadPlacementCounts(0);
  EXPECT_EQ(counts.blocks, 1u);
  EXPECT_EQ(counts.bytes, kBytes - 16);
  EXPECT_EQ(counts.heap_blocks_tried, 1u);
  EXPECT_EQ(counts.freed_blocks, 1u);
  EXPECT_EQ(counts.moved_blocks, 0u);
}

TEST_F(PlacementTest, TouchedMemoryIsToMove) {
  const SiteId site = SiteOf(RegionKind::kHeap, {16, PcIn(OneFunction)});
  static_cast<volatile char*>(memory_)[kBytes / 2] = 1;
  PlaceBlock(site, start_, kBytes);
  if (ReadPlacementCounts(0).refused_calls > 0) GTEST_SKIP() << "mbind is refused here";
  EXPECT_EQ(ReadPlacementCounts(0).moved_blocks, 1u);
  UnplaceBlock(site, start_, kBytes);
}

TEST_F(PlacementTest, BlockOfAnotherSiteIsLeftAlone) {
  const SiteId site = SiteOf(RegionKind::kHeap, {16, 32});
  PlaceBlock(site, start_, kBytes);
  EXPECT_EQ(ModeAt(0), MPOL_DEFAULT);
  UnplaceBlock(site, start_, kBytes);
  EXPECT_EQ(ReadPlacementCounts(0).heap_blocks_tried + ReadPlacementCounts(1).heap_blocks_tried,
            0u);
}

TEST_F(PlacementTest, FailedReallocPlacesTheOldBlockAgainWithoutCounting) {
  const SiteId site = SiteOf(RegionKind::kHeap, {16, PcIn(OneFunction)});
  PlaceBlock(site, start_, kBytes);
  UnplaceBlock(site, start_, kBytes);
  PlaceBlockAgain(site, start_, kBytes);
  if (ReadPlacementCounts(0).refused_calls > 0) GTEST_SKIP() << "mbind is refused here";
  EXPECT_EQ(ModeAt(0), MPOL_INTERLEAVE);
  EXPECT_EQ(ReadPlacementCounts(0).blocks, 1u);
  UnplaceBlock(site, start_, kBytes);
}

TEST_F(PlacementTest, MappingIsPlacedToItsLastPage) {
  const SiteId site = SiteOf(RegionKind::kMmap, {16, PcIn(AnotherFunction)});
  PlaceMapping(site, start_, kBytes - 100);
  if (ReadPlacementCounts(1).refused_calls > 0) GTEST_SKIP() << "mbind is refused here";
  EXPECT_EQ(ModeAt(kBytes - 4096), MPOL_PREFERRED);
  EXPECT_EQ(ReadPlacementCounts(1).blocks, 1u);
}

TEST_F(PlacementTest, MappingThatWouldBeCutIsCountedApart) {
  const SiteId site = SiteOf(RegionKind::kMmap, {16, PcIn(OneFunction) + 1});
  PlaceMapping(site, start_, kBytes);
  EXPECT_EQ(ModeAt(0), MPOL_DEFAULT);
  EXPECT_EQ(ReadPlacementCounts(2).uncut_mappings, 1u);
  EXPECT_EQ(ReadPlacementCounts(2).refused_calls, 0u);
}

TEST_F(PlacementTest, ProgramsOwnPolicyForABlockIsOverruled) {
  const SiteId site = SiteOf(RegionKind::kHeap, {16, PcIn(OneFunction)});
  PlaceBlock(site, start_ + 16, kBytes - 16);
  if (ReadPlacementCounts(0).refused_calls > 0) GTEST_SKIP() << "mbind is refused here";
  ASSERT_EQ(Bind(8192, 8192), 0);
  Overrule(OwnPlacement::kHugePages, start_ + 8192, 8192);
  EXPECT_EQ(ModeAt(8192), MPOL_BIND);
  Overrule(OwnPlacement::kPolicy, start_ + 8192, 8192);
  EXPECT_EQ(ModeAt(8192), MPOL_INTERLEAVE);
  EXPECT_EQ(ReadPlacementCounts(0).overruled_calls, 1u);
  EXPECT_EQ(ReadPlacementCounts(0).blocks, 1u);
  UnplaceBlock(site, start_ + 16, kBytes - 16);
  Overrule(OwnPlacement::kPolicy, start_ + 8192, 8192);
  EXPECT_EQ(ModeAt(8192), MPOL_DEFAULT);
}

TEST_F(PlacementTest, OfAMappingOnlyWhatTheProgramPlacedIsOverruled) {
  const SiteId site = SiteOf(RegionKind::kMmap, {16, PcIn(AnotherFunction)});
  PlaceMapping(site, start_, kBytes);
  if (ReadPlacementCounts(1).refused_calls > 0) GTEST_SKIP() << "mbind is refused here";
  ASSERT_EQ(Bind(0, kBytes), 0);
  Overrule(OwnPlacement::kPolicy, start_, kBytes / 2);
  EXPECT_EQ(ModeAt(0), MPOL_PREFERRED);
  EXPECT_EQ(ModeAt(kBytes / 2), MPOL_BIND);
  UnplaceMapping(start_, kBytes);
  ASSERT_EQ(Bind(0, kBytes), 0);
  Overrule(OwnPlacement::kPolicy, start_, kBytes);
  EXPECT_EQ(ModeAt(0), MPOL_BIND);
}

}  // namespace
}  // namespace memagent::capture
