// Hand-assembled code in a made-up process: one test for each row of the skid table and of the
// resolution rules. Every instruction is shown with its text; the IP is given by its position.
// Long file: the rows of one table, which are read against each other.
#include "agent/decode/access_resolver.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "tests/unit/decode/fake_code.h"

namespace memagent::decode {
namespace {

class AccessResolverTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(os::LoadZydis().loaded) << os::LoadZydis().reason; }

  AccessResolver::Result Resolve(std::vector<Line> lines, size_t position) {
    code_ = FakeCode(std::move(lines));
    resolver_.Flush();
    return Again(position);
  }
  AccessResolver::Result Again(size_t position) {
    sample_.ip = code_.pc(position);
    sample_.has_registers = true;
    return resolver_.Resolve(sample_, fs_base_);
  }
  void Set(Register name, uint64_t value) { sample_.registers[static_cast<size_t>(name)] = value; }

  FakeCode code_;
  AccessResolver resolver_{code_};
  RawSample sample_;
  uint64_t fs_base_ = 0;
};

constexpr uint64_t kZeroFlag = 0x40;

TEST_F(AccessResolverTest, LoadBeforeIpIsExact) {
  Set(Register::kSi, 0x1000);
  const auto result = Resolve(
      {
          {"48 8b 46 10", "mov 0x10(%rsi),%rax"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x1010u);
  EXPECT_EQ(result.access.ip, code_.pc(0));
  EXPECT_EQ(result.access.size_bytes, 8);
  EXPECT_TRUE(result.access.is_load);
  EXPECT_FALSE(result.access.is_store);
  EXPECT_EQ(result.why, Unresolved::kNone);
}

TEST_F(AccessResolverTest, StoreWithIndexIsExact) {
  Set(Register::kR9, 0x2000);
  Set(Register::kR10, 3);
  const auto result = Resolve(
      {
          {"43 89 44 d1 fc", "movl %eax,-4(%r9,%r10,8)"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x2014u);
  EXPECT_EQ(result.access.size_bytes, 4);
  EXPECT_TRUE(result.access.is_store);
  EXPECT_FALSE(result.access.is_load);
}

TEST_F(AccessResolverTest, LockedAddIsLoadAndStore) {
  Set(Register::kDi, 0x3000);
  const auto result = Resolve(
      {
          {"f0 48 83 07 01", "lock addq $1,(%rdi)"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x3000u);
  EXPECT_TRUE(result.access.is_load);
  EXPECT_TRUE(result.access.is_store);
}

TEST_F(AccessResolverTest, IpOnBranchBlamesCompareBeforeIt) {
  Set(Register::kDi, 0x3000);
  const auto result = Resolve(
      {
          {"48 39 47 08", "cmp %rax,8(%rdi)"},
          {"75 00", "jne 1f"},
          {"90", "1: nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x3008u);
  EXPECT_EQ(result.access.ip, code_.pc(0));
}

TEST_F(AccessResolverTest, NotTakenBranchAfterCompareBlamesFusedCompare) {
  Set(Register::kDi, 0x3000);
  Set(Register::kFlags, kZeroFlag);  // jne was not taken
  const auto result = Resolve(
      {
          {"48 39 47 08", "cmp %rax,8(%rdi)"},
          {"75 01", "jne 1f"},
          {"90", "nop"},
          {"90", "1: nop"},
      },
      2);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x3008u);
}

TEST_F(AccessResolverTest, TargetOfOnlyJumpBlamesItsFusedCompare) {
  Set(Register::kDi, 0x3000);
  const auto result = Resolve(
      {
          {"48 39 47 08", "cmp %rax,8(%rdi)"},
          {"75 01", "jne 1f"},
          {"c3", "ret"},
          {"90", "1: nop"},
      },
      3);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x3008u);
  EXPECT_EQ(result.access.ip, code_.pc(0));
}

TEST_F(AccessResolverTest, GatherKeepsBaseOnly) {
  Set(Register::kSi, 0x5000);
  const auto result = Resolve(
      {
          {"c4 e2 ed 91 04 ce", "vpgatherqq %ymm2,(%rsi,%ymm1,8),%ymm0"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kPcOnly);
  EXPECT_EQ(result.access.address, 0x5000u);
  EXPECT_TRUE(result.access.is_load);
  EXPECT_EQ(result.why, Unresolved::kNone);
}

TEST_F(AccessResolverTest, PrefetchIsALoad) {
  Set(Register::kSi, 0x5000);
  const auto result = Resolve(
      {
          {"0f 18 4e 40", "prefetcht0 0x40(%rsi)"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x5040u);
  EXPECT_TRUE(result.access.is_load);
}

TEST_F(AccessResolverTest, LeaAndNopAccessNothing) {
  const auto lea = Resolve(
      {
          {"48 8d 47 08", "lea 8(%rdi),%rax"},
          {"0f 1f 40 08", "nopl 8(%rax)"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(lea.access.evidence, Evidence::kNone);
  EXPECT_EQ(lea.why, Unresolved::kNone);
  EXPECT_EQ(lea.access.ip, code_.pc(0));
  EXPECT_EQ(Again(2).access.evidence, Evidence::kNone);
}

TEST_F(AccessResolverTest, DivisionByRegisterAccessesNothing) {
  const auto result = Resolve(
      {
          {"48 f7 f1", "div %rcx"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kNone);
}

TEST_F(AccessResolverTest, PushStoresAtNewStackPointer) {
  Set(Register::kSp, 0x7000);
  const auto result = Resolve(
      {
          {"53", "push %rbx"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x7000u);
  EXPECT_TRUE(result.access.is_store);
  EXPECT_FALSE(result.access.is_load);
  EXPECT_EQ(result.access.size_bytes, 8);
}

TEST_F(AccessResolverTest, PopLoadsBelowNewStackPointer) {
  Set(Register::kSp, 0x7000);
  const auto result = Resolve(
      {
          {"5b", "pop %rbx"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x6ff8u);
  EXPECT_TRUE(result.access.is_load);
}

TEST_F(AccessResolverTest, PopIntoStackPointerIsLost) {
  Set(Register::kSp, 0x7000);
  const auto result = Resolve(
      {
          {"5c", "pop %rsp"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kPcOnly);
  EXPECT_EQ(result.access.address, 0u);
}

TEST_F(AccessResolverTest, PushOfStackRelativeMemoryUsesOldStackPointer) {
  Set(Register::kSp, 0x7000);
  const auto result = Resolve(
      {
          {"ff 74 24 20", "pushq 0x20(%rsp)"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x7028u);
  EXPECT_TRUE(result.access.is_load);
}

TEST_F(AccessResolverTest, PopToStackRelativeMemoryUsesNewStackPointer) {
  Set(Register::kSp, 0x7000);
  const auto result = Resolve(
      {
          {"8f 44 24 20", "popq 0x20(%rsp)"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x7020u);
  EXPECT_TRUE(result.access.is_store);
}

TEST_F(AccessResolverTest, LeaveLoadsOldFramePointer) {
  Set(Register::kSp, 0x7000);
  const auto result = Resolve(
      {
          {"c9", "leave"},
          {"c3", "ret"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x6ff8u);
}

TEST_F(AccessResolverTest, AfterCallBlamesReturnOfCallee) {
  Set(Register::kSp, 0x7000);
  const auto result = Resolve(
      {
          {"ff d0", "call *%rax"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x6ff8u);
  EXPECT_EQ(result.access.ip, code_.pc(0));
  EXPECT_TRUE(result.access.is_load);
}

TEST_F(AccessResolverTest, RunningRepMovsBlamesItself) {
  Set(Register::kSi, 0x8000);
  Set(Register::kDi, 0x9000);
  Set(Register::kCx, 5);
  const auto result = Resolve(
      {
          {"48 8b 08", "mov (%rax),%rcx"},
          {"f3 a4", "rep movsb"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.ip, code_.pc(1));
  EXPECT_EQ(result.access.address, 0x8000u);
  EXPECT_TRUE(result.access.is_load);
}

TEST_F(AccessResolverTest, RepStosBlamesDestination) {
  Set(Register::kDi, 0x9000);
  Set(Register::kCx, 5);
  const auto result = Resolve(
      {
          {"90", "nop"},
          {"f3 48 ab", "rep stosq"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x9000u);
  EXPECT_TRUE(result.access.is_store);
  EXPECT_FALSE(result.access.is_load);
}

TEST_F(AccessResolverTest, RepWithNothingLeftBlamesPreviousInstruction) {
  Set(Register::kBx, 0xa000);
  Set(Register::kCx, 0);
  const auto result = Resolve(
      {
          {"48 8b 3b", "mov (%rbx),%rdi"},
          {"f3 48 ab", "rep stosq"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.ip, code_.pc(0));
  EXPECT_EQ(result.access.address, 0xa000u);
}

TEST_F(AccessResolverTest, ClobberedBaseWithoutLoopIsPcOnly) {
  Set(Register::kDi, 0xdead);
  const auto result = Resolve(
      {
          {"48 8b 3f", "mov (%rdi),%rdi"},
          {"c3", "ret"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kPcOnly);
  EXPECT_EQ(result.access.address, 0u);
  EXPECT_EQ(result.access.ip, code_.pc(0));
}

TEST_F(AccessResolverTest, ClobberedIndexKeepsBase) {
  Set(Register::kDx, 0xb000);
  Set(Register::kAx, 77);
  const auto result = Resolve(
      {
          {"8b 04 82", "mov (%rdx,%rax,4),%eax"},
          {"c3", "ret"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kPcOnly);
  EXPECT_EQ(result.access.address, 0xb000u);
}

TEST_F(AccessResolverTest, ClobberedIndexOfStaticArrayKeepsDisplacement) {
  const auto result = Resolve(
      {
          {"8b 04 85 00 40 40 00", "mov 0x404000(,%rax,4),%eax"},
          {"c3", "ret"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kPcOnly);
  EXPECT_EQ(result.access.address, 0x404000u);
}

TEST_F(AccessResolverTest, RipRelativeIsExact) {
  const auto result = Resolve(
      {
          {"48 8b 05 00 01 00 00", "mov 0x100(%rip),%rax"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, code_.pc(1) + 0x100);
}

TEST_F(AccessResolverTest, AddressOf32BitsIsCut) {
  Set(Register::kAx, 0x1fffffff0);
  const auto result = Resolve(
      {
          {"67 48 8b 50 20", "mov 0x20(%eax),%rdx"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x10u);
}

TEST_F(AccessResolverTest, FsRelativeUsesThreadBase) {
  fs_base_ = 0x7f0000001000;
  const auto result = Resolve(
      {
          {"64 48 8b 04 25 f8 ff ff ff", "mov %fs:-8,%rax"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0x7f0000000ff8u);
}

TEST_F(AccessResolverTest, FsRelativeWithUnknownBaseIsPcOnly) {
  const auto result = Resolve(
      {
          {"64 48 8b 04 25 28 00 00 00", "mov %fs:0x28,%rax"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kPcOnly);
  EXPECT_EQ(result.access.address, 0u);
}

TEST_F(AccessResolverTest, ListWalkGivesNextInstance) {
  Set(Register::kDi, 0xc000);
  const auto result = Resolve(
      {
          {"48 03 47 08", "1: add 8(%rdi),%rax"},
          {"48 8b 3f", "mov (%rdi),%rdi"},
          {"48 85 ff", "test %rdi,%rdi"},
          {"75 f4", "jne 1b"},
          {"c3", "ret"},
      },
      2);
  EXPECT_EQ(result.access.evidence, Evidence::kApproximate);
  EXPECT_EQ(result.access.address, 0xc000u);
  EXPECT_EQ(result.access.ip, code_.pc(1));
}

TEST_F(AccessResolverTest, ListWalkAtItsEndIsPcOnly) {
  Set(Register::kDi, 0);
  const auto result = Resolve(
      {
          {"48 03 47 08", "1: add 8(%rdi),%rax"},
          {"48 8b 3f", "mov (%rdi),%rdi"},
          {"48 85 ff", "test %rdi,%rdi"},
          {"75 f4", "jne 1b"},
          {"c3", "ret"},
      },
      2);
  EXPECT_EQ(result.access.evidence, Evidence::kPcOnly);
}

TEST_F(AccessResolverTest, LoopWithLoadedIndexIsNotFollowed) {
  Set(Register::kDi, 0xc000);
  const auto result = Resolve(
      {
          {"48 8b 3e", "1: mov (%rsi),%rdi"},
          {"48 8b 3f", "mov (%rdi),%rdi"},
          {"48 85 ff", "test %rdi,%rdi"},
          {"75 f5", "jne 1b"},
          {"c3", "ret"},
      },
      2);
  EXPECT_EQ(result.access.evidence, Evidence::kPcOnly);
}

TEST_F(AccessResolverTest, BacksliceRecomputesIndexFromIntactRegisters) {
  Set(Register::kDx, 0xb000);
  Set(Register::kCx, 0x12345);
  const auto result = Resolve(
      {
          {"89 c8", "mov %ecx,%eax"},
          {"c1 e8 08", "shr $8,%eax"},
          {"25 ff 00 00 00", "and $0xff,%eax"},
          {"8b 04 82", "mov (%rdx,%rax,4),%eax"},
          {"c3", "ret"},
      },
      4);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0xb000u + 0x23 * 4);
}

TEST_F(AccessResolverTest, BacksliceUndoesLaterChangeOfSource) {
  Set(Register::kSi, 0xd010);
  const auto result = Resolve(
      {
          {"48 8d 7e 08", "lea 8(%rsi),%rdi"},
          {"48 83 c6 10", "add $16,%rsi"},
          {"48 8b 3f", "mov (%rdi),%rdi"},
          {"c3", "ret"},
      },
      3);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0xd008u);
}

TEST_F(AccessResolverTest, BacksliceUsesCopyOfClobberedRegister) {
  Set(Register::kAx, 0xe000);
  const auto result = Resolve(
      {
          {"48 8b 3b", "mov (%rbx),%rdi"},
          {"48 89 f8", "mov %rdi,%rax"},
          {"48 8b 7f 08", "mov 8(%rdi),%rdi"},
          {"c3", "ret"},
      },
      3);
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  EXPECT_EQ(result.access.address, 0xe008u);
}

TEST_F(AccessResolverTest, BacksliceStopsAtCall) {
  Set(Register::kBx, 0xe000);
  const auto result = Resolve(
      {
          {"48 8d 7b 08", "lea 8(%rbx),%rdi"},
          {"ff d0", "call *%rax"},
          {"48 8b 3f", "mov (%rdi),%rdi"},
          {"c3", "ret"},
      },
      3);
  EXPECT_EQ(result.access.evidence, Evidence::kPcOnly);
}

TEST_F(AccessResolverTest, BacksliceStopsAtJumpTarget) {
  Set(Register::kBx, 0xe000);
  const auto result = Resolve(
      {
          {"48 85 c9", "test %rcx,%rcx"},
          {"75 04", "jne 1f"},
          {"48 8d 7b 08", "lea 8(%rbx),%rdi"},
          {"48 8b 3f", "1: mov (%rdi),%rdi"},
          {"c3", "ret"},
      },
      4);
  EXPECT_EQ(result.access.evidence, Evidence::kPcOnly);
}

TEST_F(AccessResolverTest, BacksliceIsApproximateWhereSwitchTablesMayEnter) {
  Set(Register::kBx, 0xe000);
  const auto result = Resolve(
      {
          {"48 8d 7b 08", "lea 8(%rbx),%rdi"},
          {"48 8b 3f", "mov (%rdi),%rdi"},
          {"c3", "ret"},
          {"ff e0", "jmp *%rax"},
      },
      2);
  EXPECT_EQ(result.access.evidence, Evidence::kApproximate);
  EXPECT_EQ(result.access.address, 0xe008u);
}

TEST_F(AccessResolverTest, EndOfIfLowersEvidence) {
  Set(Register::kSi, 0xf000);
  const auto result = Resolve(
      {
          {"48 85 c9", "test %rcx,%rcx"},
          {"74 03", "je 1f"},
          {"48 8b 06", "mov (%rsi),%rax"},
          {"90", "1: nop"},
      },
      3);
  // Zero flag is clear: je was not taken, so only the load can have run before.
  EXPECT_EQ(result.access.evidence, Evidence::kExact);
  Set(Register::kFlags, kZeroFlag);
  const auto joined = Again(3);
  EXPECT_EQ(joined.access.evidence, Evidence::kApproximate);
  EXPECT_EQ(joined.access.address, 0xf000u);
  EXPECT_EQ(joined.why, Unresolved::kAmbiguousPredecessor);
}

TEST_F(AccessResolverTest, HeadOfLoopAfterLoadIsAmbiguousOnlyWhenJumpIsPossible) {
  Set(Register::kSi, 0xf000);
  Set(Register::kFlags, kZeroFlag);  // jne cannot have jumped: the load ran
  const auto entered = Resolve(
      {
          {"48 8b 06", "mov (%rsi),%rax"},
          {"90", "1: nop"},
          {"48 ff c9", "dec %rcx"},
          {"75 fa", "jne 1b"},
          {"c3", "ret"},
      },
      1);
  EXPECT_EQ(entered.access.evidence, Evidence::kExact);
  Set(Register::kFlags, 0);
  const auto looped = Again(1);
  EXPECT_EQ(looped.access.evidence, Evidence::kPcOnly);
  EXPECT_EQ(looped.access.address, 0u);
  EXPECT_EQ(looped.why, Unresolved::kAmbiguousPredecessor);
}

TEST_F(AccessResolverTest, TargetOfPlainJumpAccessesNothing) {
  const auto result = Resolve(
      {
          {"48 8b 06", "mov (%rsi),%rax"},
          {"eb 01", "jmp 1f"},
          {"c3", "ret"},
          {"90", "1: nop"},
      },
      3);
  EXPECT_EQ(result.access.evidence, Evidence::kNone);
  EXPECT_EQ(result.why, Unresolved::kNone);
}

TEST_F(AccessResolverTest, FunctionEntryIsUnknown) {
  const auto result = Resolve(
      {
          {"48 8b 06", "mov (%rsi),%rax"},
          {"c3", "ret"},
      },
      0);
  EXPECT_EQ(result.access.evidence, Evidence::kPcOnly);
  EXPECT_EQ(result.access.ip, code_.pc(0));
  EXPECT_EQ(result.why, Unresolved::kAmbiguousPredecessor);
}

TEST_F(AccessResolverTest, SwitchLabelIsUnknown) {
  const auto result = Resolve(
      {
          {"48 8b 06", "mov (%rsi),%rax"},
          {"ff e0", "jmp *%rax"},
          {"90", "nop"},
      },
      2);
  EXPECT_EQ(result.access.evidence, Evidence::kPcOnly);
  EXPECT_EQ(result.why, Unresolved::kAmbiguousPredecessor);
}

TEST_F(AccessResolverTest, PaddingAfterJumpIsNoPredecessor) {
  const auto result = Resolve(
      {
          {"ff 25 00 01 00 00", "jmp *0x100(%rip)"},
          {"66 90", "xchg %ax,%ax"},
          {"90", "nop"},
          {"ff 25 00 02 00 00", "jmp *0x200(%rip)"},
      },
      3);
  EXPECT_EQ(result.access.evidence, Evidence::kPcOnly);
  EXPECT_EQ(result.why, Unresolved::kAmbiguousPredecessor);
}

TEST_F(AccessResolverTest, AfterSystemCallAccessesNothing) {
  const auto result = Resolve(
      {
          {"0f 05", "syscall"},
          {"90", "nop"},
      },
      1);
  EXPECT_EQ(result.access.evidence, Evidence::kNone);
}

TEST_F(AccessResolverTest, IpInsideInstructionIsUndecodable) {
  code_ = FakeCode({
      {"48 8b 46 10", "mov 0x10(%rsi),%rax"},
      {"90", "nop"},
  });
  sample_.ip = code_.pc(0) + 1;
  EXPECT_EQ(resolver_.Resolve(sample_, 0).why, Unresolved::kUndecodable);
}

TEST_F(AccessResolverTest, CodeWithoutFunctionIsCounted) {
  sample_.ip = 0x10;
  const auto result = resolver_.Resolve(sample_, 0);
  EXPECT_EQ(result.why, Unresolved::kNoFunction);
  EXPECT_EQ(result.access.evidence, Evidence::kPcOnly);
}

TEST_F(AccessResolverTest, UnmappedCodeIsCounted) {
  code_ = FakeCode({
      {"90", "nop"},
      {"90", "nop"},
  });
  code_.Unmap();
  sample_.ip = code_.pc(1);
  EXPECT_EQ(resolver_.Resolve(sample_, 0).why, Unresolved::kUnreadableCode);
}

TEST_F(AccessResolverTest, SampleWithoutRegistersIsPcOnly) {
  code_ = FakeCode({
      {"48 8b 46 10", "mov 0x10(%rsi),%rax"},
      {"90", "nop"},
  });
  sample_.ip = code_.pc(1);
  const auto result = resolver_.Resolve(sample_, 0);
  EXPECT_EQ(result.access.evidence, Evidence::kPcOnly);
  EXPECT_EQ(result.access.ip, code_.pc(0));
}

TEST_F(AccessResolverTest, CacheAnswersUntilFlush) {
  Set(Register::kSi, 0x1000);
  EXPECT_EQ(Resolve(
                {
                    {"48 8b 06", "mov (%rsi),%rax"},
                    {"90", "nop"},
                },
                1)
                .access.evidence,
            Evidence::kExact);
  code_ = FakeCode({
      {"48 8d 06", "lea (%rsi),%rax"},
      {"90", "nop"},
  });
  EXPECT_EQ(Again(1).access.evidence, Evidence::kExact);
  resolver_.Flush();
  EXPECT_EQ(Again(1).access.evidence, Evidence::kNone);
}

}  // namespace
}  // namespace memagent::decode
