// What is read of a placement call's arguments, and what is not.
#include "agent/capture/placement_recorder.h"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "agent/capture/drain_wake.h"
#include "agent/ledger/placement_calls.h"
#include "agent/os/machine.h"

namespace memagent::capture {
namespace {

using ledger::PlacementCall;
using ledger::PlacementKind;

long Word(const void* pointer) { return reinterpret_cast<long>(pointer); }

class PlacementRecorder : public testing::Test {
 protected:
  void SetUp() override {
    ledger::ForgetPlacementCalls();
    SetCpuMaskBytes(128);
  }

  static std::optional<PlacementCall> Taken() {
    PlacementCall call;
    return ledger::PopPlacementCall(call) ? std::optional(call) : std::nullopt;
  }
  static std::optional<PlacementCall> Recorded(long number, const long (&arguments)[6], long result,
                                               int error = 0) {
    RecordPlacementCall(number, arguments, result, error, MEMAGENT_CALLER());
    return Taken();
  }
  static std::vector<uint32_t> BitsOf(const PlacementCall& call) {
    std::vector<uint32_t> bits;
    call.mask.ForEach([&](uint32_t bit) { bits.push_back(bit); });
    return bits;
  }
};

using Bits = std::vector<uint32_t>;

TEST_F(PlacementRecorder, OnlyPlacementCallsAreMeant) {
  EXPECT_TRUE(IsPlacementCall(SYS_mbind));
  EXPECT_TRUE(IsPlacementCall(SYS_sched_setaffinity));
  EXPECT_FALSE(IsPlacementCall(SYS_get_mempolicy));
  EXPECT_FALSE(IsPlacementCall(SYS_read));
}

TEST_F(PlacementRecorder, OfAMaskTheKernelReadsOneBitLess) {
  const std::array<uint64_t, 2> mask = {0x8000000000000005, 0x3};
  const auto call = Recorded(SYS_mbind, {0x7000, 8192, MPOL_BIND, Word(mask.data()), 64, 0}, 0);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->kind, PlacementKind::kMbind);
  EXPECT_EQ(call->address, 0x7000u);
  EXPECT_EQ(call->size_bytes, 8192u);
  EXPECT_EQ(call->mode_and_flags, static_cast<uint32_t>(MPOL_BIND));
  EXPECT_EQ(call->error, 0);
  EXPECT_EQ(call->thread, static_cast<Tid>(syscall(SYS_gettid)));
  EXPECT_NE(call->stack, StackId::kNone);
  EXPECT_EQ(BitsOf(*call), (Bits{0, 2}));
  EXPECT_EQ(BitsOf(*Recorded(SYS_set_mempolicy, {MPOL_BIND, Word(mask.data()), 65, 0, 0, 0}, 0)),
            (Bits{0, 2, 63}));
  EXPECT_EQ(BitsOf(*Recorded(SYS_set_mempolicy, {MPOL_BIND, Word(mask.data()), 66, 0, 0, 0}, 0)),
            (Bits{0, 2, 63, 64}));
  EXPECT_EQ(BitsOf(*Recorded(SYS_set_mempolicy, {MPOL_DEFAULT, 0, 0, 0, 0, 0}, 0)), Bits{});
  EXPECT_EQ(BitsOf(*Recorded(SYS_set_mempolicy, {MPOL_DEFAULT, Word(mask.data()), 1, 0, 0, 0}, 0)),
            Bits{});
}

TEST_F(PlacementRecorder, NothingIsReadOfARefusedCall) {
  constexpr long kBad = 8;
  for (const long number :
       {SYS_mbind, SYS_set_mempolicy, SYS_move_pages, SYS_migrate_pages, SYS_sched_setaffinity}) {
    const auto call = Recorded(number, {kBad, kBad, kBad, kBad, kBad, kBad}, -1, 14);
    ASSERT_TRUE(call) << number;
    EXPECT_EQ(call->error, 14);
    EXPECT_EQ(BitsOf(*call), Bits{});
  }
}

TEST_F(PlacementRecorder, MovePagesNamesItsFirstPageAndItsNodes) {
  const std::array<uint64_t, 3> pages = {0x5000, 0x6000, 0x7000};
  const std::array<int, 3> nodes = {2, -1, 1};
  const long arguments[6] = {0, 3, Word(pages.data()), Word(nodes.data()), 0, 0};
  const auto call = Recorded(SYS_move_pages, arguments, 0);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->address, 0x5000u);
  EXPECT_EQ(call->size_bytes, 3 * static_cast<uint64_t>(getpagesize()));
  EXPECT_EQ(BitsOf(*call), (Bits{1, 2}));
  // Two pages were left: of the nodes the kernel has read one at least.
  EXPECT_EQ(BitsOf(*Recorded(SYS_move_pages, arguments, 2)), (Bits{2}));
  EXPECT_FALSE(Recorded(SYS_move_pages, {0, 3, Word(pages.data()), 0, 0, 0}, 0));
}

TEST_F(PlacementRecorder, OfCpusNoMoreIsReadThanTheKernelReads) {
  const std::array<uint64_t, 2> mask = {0x2, 0x1};
  SetCpuMaskBytes(8);
  RecordAffinity(77, sizeof(mask), mask.data(), 0, MEMAGENT_CALLER());
  auto call = Taken();
  ASSERT_TRUE(call);
  EXPECT_TRUE(call->mask_is_cpus);
  EXPECT_EQ(call->target, 77u);
  EXPECT_EQ(BitsOf(*call), (Bits{1}));
  SetCpuMaskBytes(128);
  RecordPthreadAffinity(0x7f00, sizeof(mask), mask.data(), 0, MEMAGENT_CALLER());
  call = Taken();
  ASSERT_TRUE(call);
  EXPECT_TRUE(call->target_is_handle);
  EXPECT_EQ(BitsOf(*call), (Bits{1, 64}));
  RecordAffinity(0, 4, mask.data(), 0, MEMAGENT_CALLER());
  EXPECT_EQ(BitsOf(*Taken()), (Bits{1}));
}

TEST_F(PlacementRecorder, HowMuchOfAMaskCountsIsAskedOfTheKernelAtTheFirstCall) {
  SetCpuMaskBytes(0);
  cpu_set_t mask;
  memset(&mask, 0xff, sizeof(mask));
  RecordAffinity(0, sizeof(mask), &mask, 0, MEMAGENT_CALLER());
  EXPECT_EQ(BitsOf(*Taken()).size(), 8 * os::CpuMaskBytes());
}

TEST_F(PlacementRecorder, TheDrainThreadIsWokenBeforeTheQueueIsFull) {
  const std::array<uint64_t, 2> mask = {0x2, 0x1};
  const uint32_t before = drain_sleep.ticks_wanted;
  uint64_t calls = 0;
  for (; drain_sleep.ticks_wanted == before && calls < ledger::kPlacementSlots; ++calls) {
    RecordAffinity(0, sizeof(mask), mask.data(), 0, MEMAGENT_CALLER());
  }
  EXPECT_EQ(calls, ledger::kPlacementSlots / 2);
}

}  // namespace
}  // namespace memagent::capture
