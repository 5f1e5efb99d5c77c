// Payloads are built from the manual's bit numbers: no recorded ones exist (facts: profileme).
#include "agent/decode/profileme.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace memagent::decode {
namespace {

constexpr uint64_t Bit(int number) { return uint64_t{1} << number; }
constexpr uint64_t TrapType(uint64_t type) { return Bit(39) | type << 34; }
constexpr uint64_t kPc = 0x1200'1234;
constexpr uint64_t kProfileMe = Bit(4);  // SL0
constexpr uint64_t kValid = Bit(1);

std::vector<uint8_t> Payload(uint64_t pmpc, uint64_t i_stat, uint64_t pctr_ctl,
                             uint32_t version = 1) {
  std::vector<uint8_t> bytes(32);
  memcpy(bytes.data(), &version, 4);
  memcpy(bytes.data() + 8, &pmpc, 8);
  memcpy(bytes.data() + 16, &i_stat, 8);
  memcpy(bytes.data() + 24, &pctr_ctl, 8);
  return bytes;
}

ProfileMeSample Decoded(uint64_t pmpc, uint64_t i_stat, uint64_t pctr_ctl) {
  ProfileMeCounts counts;
  const auto sample = ParseProfileMe(Payload(pmpc, i_stat, pctr_ctl | kProfileMe), counts);
  EXPECT_TRUE(sample.has_value());
  EXPECT_EQ(counts.decoded, 1u);
  return sample.value_or(ProfileMeSample());
}

TEST(ProfileMe, FatesExcludeEachOther) {
  EXPECT_EQ(Decoded(kPc, 0, kValid).fate, ProfileMeFate::kRetired);
  EXPECT_EQ(Decoded(kPc, 0, 0).fate, ProfileMeFate::kKilledAfterMap);
  EXPECT_EQ(Decoded(kPc, 0, Bit(26)).fate, ProfileMeFate::kKilledBeforeMap);
  // Of one that trapped, the valid bit says nothing.
  EXPECT_EQ(Decoded(kPc, TrapType(5), kValid).fate, ProfileMeFate::kTrapped);
  EXPECT_EQ(Decoded(kPc, TrapType(5), Bit(26)).fate, ProfileMeFate::kTrapped);
}

TEST(ProfileMe, TrapTypesAreTheHardwaresNumbers) {
  using enum ProfileMeTrap;
  const std::pair<uint64_t, ProfileMeTrap> types[] = {
      {0, kReplay},       {1, kUnknown},       {2, kDtbDoubleMiss3},        {3, kDtbDoubleMiss4},
      {5, kUnaligned},    {6, kDtbSingleMiss}, {4, kFloatingPointDisabled}, {7, kDataFault},
      {8, kOpcodeDecode}, {9, kUnknown},       {10, kMachineCheck},         {11, kUnknown},
      {12, kArithmetic},  {13, kUnknown},      {14, kFloatingPointControl}, {15, kReset},
  };
  for (const auto& [type, trap] : types) {
    EXPECT_EQ(Decoded(kPc, TrapType(type), 0).trap, trap) << type;
  }
  EXPECT_EQ(Decoded(kPc, uint64_t{5} << 34, kValid).trap, ProfileMeTrap::kUnknown)
      << "a type without the trap bit is of nothing";
}

TEST(ProfileMe, InvalidTypesAreToldByThePalCodeEntered) {
  using enum ProfileMeTrap;
  const uint64_t base = 0x8000;
  for (const uint64_t type : {1, 9, 11, 13}) {
    EXPECT_EQ(Decoded(base | 0x0581, TrapType(type), 0).trap, kItbMiss);
    EXPECT_EQ(Decoded(base | 0x0481, TrapType(type), 0).trap, kInstructionAccess);
    EXPECT_EQ(Decoded(base | 0x0681, TrapType(type), 0).trap, kInterrupt);
    EXPECT_EQ(Decoded(base | 0x0781, TrapType(type), 0).trap, kUnknown);
    EXPECT_EQ(Decoded(base | 0x0580, TrapType(type), 0).trap, kUnknown) << "not in PALmode";
  }
  EXPECT_EQ(Decoded(base | 0x0581, TrapType(6), 0).trap, kDtbSingleMiss) << "a type that is valid";
}

TEST(ProfileMe, PcInPalModeIsNotThePrograms) {
  EXPECT_EQ(Decoded(kPc, 0, kValid).pc, kPc);
  EXPECT_EQ(Decoded(kPc | 2, 0, kValid).pc, kPc);
  EXPECT_EQ(Decoded(0xffff'fc00'1234'5678, 0, kValid).pc, 0xffff'fc00'1234'5678u);
  EXPECT_FALSE(Decoded(kPc | 1, 0, kValid).pc.has_value());
}

TEST(ProfileMe, LoadStoreOrderIsAKindOfReplay) {
  EXPECT_TRUE(Decoded(kPc, TrapType(0) | Bit(38), 0).load_store_order);
  EXPECT_FALSE(Decoded(kPc, TrapType(0), 0).load_store_order);
  EXPECT_FALSE(Decoded(kPc, TrapType(6) | Bit(38), 0).load_store_order);
  EXPECT_FALSE(Decoded(kPc, Bit(38), kValid).load_store_order);
}

TEST(ProfileMe, MispredictionIsToldByTheBitOrByAJumpThatTrapped) {
  constexpr uint32_t kRet = 0x6bfa'8001;  // ret zero,(ra),1
  constexpr uint32_t kBne = 0xf420'0003;  // bne t0,+3
  const ProfileMeSample branch = Decoded(kPc, Bit(40) | TrapType(1), 0);
  EXPECT_EQ(branch.trap, ProfileMeTrap::kMispredict);
  EXPECT_TRUE(WasMispredicted(branch, kBne));
  EXPECT_TRUE(WasMispredicted(branch, std::nullopt));
  const ProfileMeSample trapped = Decoded(kPc, TrapType(1), 0);
  EXPECT_TRUE(WasMispredicted(trapped, kRet));
  EXPECT_FALSE(WasMispredicted(trapped, kBne));
  EXPECT_FALSE(WasMispredicted(trapped, std::nullopt));
  EXPECT_FALSE(WasMispredicted(Decoded(kPc, 0, kValid), kRet)) << "it did not trap";
  EXPECT_FALSE(WasMispredicted(Decoded(kPc, Bit(40), kValid), kBne))
      << "the bit counts with a trap";
  EXPECT_FALSE(WasMispredicted(Decoded(kPc | 1, TrapType(1), 0), kRet)) << "of another pc";
}

TEST(ProfileMe, FieldsHaveTheirBitsAndNoOthers) {
  const ProfileMeSample none = Decoded(kPc, 0, 0);
  EXPECT_FALSE(none.icache_miss || none.stalled || none.branch_taken);
  EXPECT_EQ(none.overrun, 0);
  EXPECT_EQ(none.counter0, 0u);
  EXPECT_EQ(none.in_window, 0u);
  EXPECT_TRUE(Decoded(kPc, Bit(33), 0).icache_miss);
  EXPECT_TRUE(Decoded(kPc, 0, Bit(27)).stalled);
  EXPECT_TRUE(Decoded(kPc, 0, Bit(0)).branch_taken);
  EXPECT_EQ(Decoded(kPc, uint64_t{5} << 30, 0).overrun, 5);
  EXPECT_EQ(Decoded(kPc, 0, uint64_t{0xabcde} << 28).counter0, 0xabcdeu);
  EXPECT_EQ(Decoded(kPc, 0, uint64_t{0x54321} << 6).in_window, 0x54321u);
  const ProfileMeSample all = Decoded(kPc, UINT64_MAX, UINT64_MAX);
  EXPECT_EQ(all.overrun, 7);
  EXPECT_EQ(all.counter0, 0xfffffu);
  EXPECT_EQ(all.in_window, 0xfffffu);
}

TEST(ProfileMe, LaterFieldsAreAllowedAndMissingOnesAreNot) {
  std::vector<uint8_t> bytes = Payload(kPc, 0, kValid);
  ProfileMeCounts counts;
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ParseProfileMe(std::span(bytes).first(size), counts)) << size;
  }
  EXPECT_EQ(counts.too_short, bytes.size());
  bytes.resize(60, 0xff);
  EXPECT_EQ(ParseProfileMe(bytes, counts)->pc, kPc);
  EXPECT_EQ(counts.decoded, 1u);
  EXPECT_EQ(counts.unknown_version, 0u);
}

TEST(ProfileMe, OtherVersionsAreRefusedAndCounted) {
  ProfileMeCounts counts;
  for (const uint32_t version : {0u, 2u, 0x0100'0000u, UINT32_MAX}) {
    EXPECT_FALSE(ParseProfileMe(Payload(kPc, 0, kValid, version), counts));
  }
  EXPECT_EQ(counts.unknown_version, 4u);
  EXPECT_EQ(counts.decoded + counts.too_short, 0u);
}

TEST(ProfileMe, WindowCountsWhatTheEventLeavesTheSecondCounter) {
  constexpr uint64_t kProfileMeConfig = 0x100;
  EXPECT_EQ(ProfileMeWindowOf(kProfileMeConfig | 1), ProfileMeWindow::kRetireDelay);
  EXPECT_EQ(ProfileMeWindowOf(kProfileMeConfig | 2), ProfileMeWindow::kCycles);
  EXPECT_EQ(ProfileMeWindowOf(kProfileMeConfig | 3), ProfileMeWindow::kBcacheMisses);
  EXPECT_EQ(ProfileMeWindowOf(kProfileMeConfig | 0x200 | 4), ProfileMeWindow::kReplayTraps);
  EXPECT_EQ(ProfileMeWindowOf(kProfileMeConfig), ProfileMeWindow::kUnknown);
}

}  // namespace
}  // namespace memagent::decode
