#include "agent/decode/profileme.h"

#include "agent/decode/record_reader.h"

namespace memagent::decode {
namespace {

constexpr uint32_t kVersion = 1;

constexpr bool Bit(uint64_t value, int number) { return (value >> number & 1) != 0; }
constexpr uint64_t Bits(uint64_t value, int highest, int lowest) {
  return value >> lowest & ((uint64_t{1} << (highest - lowest + 1)) - 1);
}

// PMPC
constexpr int kPalMode = 0;
constexpr uint64_t kPalEntry = 0x7fff;  // of which PALcode: bits 14:0
// I_STAT
constexpr int kMispredicted = 40, kTrapped = 39, kLoadStoreOrder = 38, kIcacheMiss = 33;
// PCTR_CTL
constexpr int kStalled = 27, kKilledBeforeMap = 26, kValid = 1, kTaken = 0;

// For trap types that are invalid: the PALcode that was entered.
ProfileMeTrap TrapByPalCode(uint64_t pmpc) {
  switch (Bit(pmpc, kPalMode) ? pmpc & kPalEntry : 0) {
    case 0x0581:
      return ProfileMeTrap::kItbMiss;
    case 0x0481:
      return ProfileMeTrap::kInstructionAccess;
    case 0x0681:
      return ProfileMeTrap::kInterrupt;
    default:
      return ProfileMeTrap::kUnknown;
  }
}

ProfileMeTrap TrapOf(uint64_t pmpc, uint64_t i_stat) {
  if (Bit(i_stat, kMispredicted)) return ProfileMeTrap::kMispredict;
  const uint64_t type = Bits(i_stat, 37, 34);
  const bool is_invalid = type == 1 || type == 9 || type == 11 || type == 13;
  return is_invalid ? TrapByPalCode(pmpc) : static_cast<ProfileMeTrap>(type);
}

ProfileMeFate FateOf(uint64_t i_stat, uint64_t pctr_ctl) {
  if (Bit(i_stat, kTrapped)) return ProfileMeFate::kTrapped;
  if (Bit(pctr_ctl, kValid)) return ProfileMeFate::kRetired;
  return Bit(pctr_ctl, kKilledBeforeMap) ? ProfileMeFate::kKilledBeforeMap
                                         : ProfileMeFate::kKilledAfterMap;
}

// JMP, JSR, RET and JSR_COROUTINE share the opcode 0x1a.
bool IsJump(uint32_t instruction) { return instruction >> 26 == 0x1a; }

ProfileMeSample Decode(uint64_t pmpc, uint64_t i_stat, uint64_t pctr_ctl) {
  ProfileMeSample sample;
  if (!Bit(pmpc, kPalMode)) sample.pc = pmpc & ~uint64_t{3};
  sample.fate = FateOf(i_stat, pctr_ctl);
  if (sample.fate == ProfileMeFate::kTrapped) sample.trap = TrapOf(pmpc, i_stat);
  sample.load_store_order = sample.fate == ProfileMeFate::kTrapped &&
                            sample.trap == ProfileMeTrap::kReplay && Bit(i_stat, kLoadStoreOrder);
  sample.icache_miss = Bit(i_stat, kIcacheMiss);
  sample.overrun = static_cast<uint8_t>(Bits(i_stat, 32, 30));
  sample.counter0 = static_cast<uint32_t>(Bits(pctr_ctl, 47, 28));
  sample.stalled = Bit(pctr_ctl, kStalled);
  sample.in_window = static_cast<uint32_t>(Bits(pctr_ctl, 25, 6));
  sample.branch_taken = Bit(pctr_ctl, kTaken);
  return sample;
}

}  // namespace

std::optional<ProfileMeSample> ParseProfileMe(std::span<const uint8_t> raw,
                                              ProfileMeCounts& counts) {
  RecordReader reader(raw);
  const auto version = reader.Take<uint32_t>();
  if (reader.ok() && version != kVersion) {
    ++counts.unknown_version;
    return std::nullopt;
  }
  reader.Take<uint32_t>();  // reserved
  const auto pmpc = reader.Take<uint64_t>();
  const auto i_stat = reader.Take<uint64_t>();
  const auto pctr_ctl = reader.Take<uint64_t>();
  if (!reader.ok()) {
    ++counts.too_short;
    return std::nullopt;
  }
  ++counts.decoded;
  return Decode(pmpc, i_stat, pctr_ctl);
}

bool WasMispredicted(const ProfileMeSample& sample, std::optional<uint32_t> instruction) {
  if (sample.fate != ProfileMeFate::kTrapped) return false;
  return sample.trap == ProfileMeTrap::kMispredict ||
         (sample.pc.has_value() && instruction.has_value() && IsJump(*instruction));
}

ProfileMeWindow ProfileMeWindowOf(uint64_t config) {
  switch (config & 0xff) {
    case 1:
      return ProfileMeWindow::kRetireDelay;
    case 2:
      return ProfileMeWindow::kCycles;
    case 3:
      return ProfileMeWindow::kBcacheMisses;
    case 4:
      return ProfileMeWindow::kReplayTraps;
    default:
      return ProfileMeWindow::kUnknown;
  }
}

}  // namespace memagent::decode
