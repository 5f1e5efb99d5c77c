// Ticks at an access and behind it, resolved one after the other: code of three instructions, the
// second of which loads from kSlow.
#include "agent/decode/cut_accesses.h"

#include <gtest/gtest.h>

#include "agent/decode/access_resolver.h"
#include "tests/unit/decode/fake_code.h"

namespace memagent::decode {
namespace {

constexpr uint64_t kFast = 0x1000;
constexpr uint64_t kSlow = 0x2000;

class CutAccessesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(os::LoadZydis().loaded) << os::LoadZydis().reason; }

  void SetUp() override {
    Begin({"48 8b 06", "mov (%rsi),%rax"});
    resolver_.SetCutsAccesses(true);
  }
  void Begin(const Line& first) {
    code_ = FakeCode({first, {"48 8b 1f", "mov (%rdi),%rbx"}, {"48 ff c9", "dec %rcx"}});
    resolver_.Flush();
  }
  AccessResolver::Result Tick(size_t position) {
    RawSample sample;
    sample.ip = code_.pc(position);
    sample.has_registers = true;
    sample.registers[static_cast<size_t>(Register::kSi)] = kFast;
    sample.registers[static_cast<size_t>(Register::kDi)] = kSlow;
    return resolver_.Resolve(sample, 0);
  }
  void TickBehind(int times) {
    for (int i = 0; i < times; ++i) ASSERT_EQ(Tick(2).access.address, kSlow);
  }
  // Ticks at the load that are booked on it, before the first that is not.
  int OwnTicks() {
    int own = 0;
    while (own < 1000 && Tick(1).access.ip == code_.pc(1)) ++own;
    return own;
  }

  FakeCode code_;
  AccessResolver resolver_{code_};
};

TEST_F(CutAccessesTest, TickAtTheAccessIsBookedOnItByItsRegisters) {
  TickBehind(12);
  const auto result = Tick(1);
  EXPECT_EQ(result.access.ip, code_.pc(1));
  EXPECT_EQ(result.access.address, kSlow);
  EXPECT_EQ(result.access.evidence, Evidence::kApproximate);
  EXPECT_EQ(result.why, Unresolved::kAmbiguousPredecessor);
}

TEST_F(CutAccessesTest, BehindAnAccessUpToAThirdOfThoseAfterItAreItsOwn) {
  TickBehind(12);
  EXPECT_EQ(OwnTicks(), 4);
  EXPECT_EQ(Tick(1).access.address, kFast);
}

TEST_F(CutAccessesTest, BehindAQuickInstructionAsManyAreItsOwn) {
  Begin({"48 c1 e8 29", "shr $0x29,%rax"});
  TickBehind(12);
  EXPECT_EQ(OwnTicks(), 12);
  EXPECT_EQ(Tick(1).access.evidence, Evidence::kNone);
}

TEST_F(CutAccessesTest, BehindASlowInstructionUpToAThirdAreItsOwn) {
  Begin({"48 0f af c2", "imul %rdx,%rax"});
  TickBehind(12);
  EXPECT_EQ(OwnTicks(), 4);
}

TEST_F(CutAccessesTest, FirstTicksBlameTheAccessBefore) {
  TickBehind(7);
  EXPECT_EQ(Tick(1).access.address, kFast);
}

TEST_F(CutAccessesTest, OtherCpusBlameTheAccessBefore) {
  resolver_.SetCutsAccesses(false);
  TickBehind(100);
  EXPECT_EQ(Tick(1).access.address, kFast);
  EXPECT_EQ(Tick(1).access.evidence, Evidence::kExact);
}

TEST_F(CutAccessesTest, FlushForgetsTheTicks) {
  TickBehind(100);
  resolver_.Flush();
  EXPECT_EQ(OwnTicks(), 0);
}

TEST_F(CutAccessesTest, InstructionWithoutAccessIsNeverCut) {
  code_ = FakeCode(
      {{"48 8b 06", "mov (%rsi),%rax"}, {"48 ff c9", "dec %rcx"}, {"48 ff c9", "dec %rcx"}});
  for (int i = 0; i < 100; ++i) Tick(2);
  EXPECT_EQ(Tick(1).access.address, kFast);
}

}  // namespace
}  // namespace memagent::decode
