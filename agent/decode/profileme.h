// What ProfileMe, the instruction sampling of Alpha 21264A (EV67) and later, tells of a sampled
// instruction: the PERF_SAMPLE_RAW payload of the kernel's driver, from bytes to fields. Pure;
// trusts no length. Calling thread: any.
//
// There is no data address: such samples name code only. Nobody here has the hardware; this is made
// from the driver's description and the 21264/EV67 Hardware Reference Manual, pages 5-8, 5-19,
// 5-20, 5-24, 5-25 and 6-22 (facts: profileme).
//
// Killed instructions are sampled as well, at their own pc: on a badly predicted loop that is about
// as many again as retire. What counts instructions must leave them out.
#ifndef MEMAGENT_AGENT_DECODE_PROFILEME_H_
#define MEMAGENT_AGENT_DECODE_PROFILEME_H_

#include <cstdint>
#include <optional>
#include <span>

namespace memagent::decode {

// What became of the instruction: exactly one of these.
enum class ProfileMeFate : uint8_t { kRetired, kKilledBeforeMap, kKilledAfterMap, kTrapped };

// 0 to 15 are the hardware's numbers of trap types; 1, 9, 11 and 13 are invalid there.
enum class ProfileMeTrap : uint8_t {
  kReplay = 0,
  kDtbDoubleMiss3 = 2,  // of a page table of three levels
  kDtbDoubleMiss4 = 3,  // ... of four
  kFloatingPointDisabled = 4,
  kUnaligned = 5,
  kDtbSingleMiss = 6,
  kDataFault = 7,
  kOpcodeDecode = 8,
  kMachineCheck = 10,
  kArithmetic = 12,
  kFloatingPointControl = 14,  // MT_FPCR
  kReset = 15,
  // Told by other bits than the type.
  kMispredict = 16,
  kItbMiss = 17,
  kInstructionAccess = 18,  // instruction-stream access violation
  kInterrupt = 19,
  kUnknown = 20,
};

struct ProfileMeSample {
  // Of the instruction; nullopt in PALmode, whose pc is a physical address: then the record's own
  // ip, where the interrupt came, is all there is.
  std::optional<uint64_t> pc;
  ProfileMeFate fate = ProfileMeFate::kKilledAfterMap;
  ProfileMeTrap trap = ProfileMeTrap::kUnknown;  // of kTrapped only
  // With kReplay: a load came before a store to the same place. Without it the replay is one of
  // load-load order, a full queue, a wrong size, an alias or a memory error.
  bool load_store_order = false;
  bool icache_miss = false;  // its block of four instructions asked for a new fill
  bool stalled = false;      // at least one cycle between fetch and map
  bool branch_taken = false;
  uint8_t overrun = 0;     // to be taken off counter 0, where that counts instructions
  uint32_t counter0 = 0;   // 20 bits
  uint32_t in_window = 0;  // 20 bits: what ProfileMeWindow says was counted while it was in flight
};

struct ProfileMeCounts {
  uint64_t decoded = 0;
  uint64_t unknown_version = 0;
  uint64_t too_short = 0;
};

// The payload as PERF_SAMPLE_RAW has it; bytes beyond version 1 are of later kernels, or padding.
// nullopt when it is refused; `counts` says why.
std::optional<ProfileMeSample> ParseProfileMe(std::span<const uint8_t> raw,
                                              ProfileMeCounts& counts);

// The branch at `pc` was mispredicted. The hardware says so of conditional branches only; of a
// jump, call or return (`instruction`, the word at `pc`) that trapped it means the same.
bool WasMispredicted(const ProfileMeSample& sample, std::optional<uint32_t> instruction);

// What `in_window` counts, by the event: bits 0 to 7 of perf_event_attr.config.
enum class ProfileMeWindow : uint8_t {
  kUnknown,
  kRetireDelay,   // of event 1, cycles
  kCycles,        // of event 2, instructions
  kBcacheMisses,  // of event 3, bcache-misses
  kReplayTraps,   // of event 4, mbox-replay
};
ProfileMeWindow ProfileMeWindowOf(uint64_t config);

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_PROFILEME_H_
