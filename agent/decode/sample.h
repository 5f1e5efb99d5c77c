// What one sample says after decoding, whatever engine produced it. Plain data.
#ifndef MEMAGENT_AGENT_DECODE_SAMPLE_H_
#define MEMAGENT_AGENT_DECODE_SAMPLE_H_

#include <array>
#include <cstdint>
#include <span>

#include "agent/base/types.h"

namespace memagent::decode {

// User-space registers at the interrupt, in the kernel's x86 order (perf_regs.h): AX BX CX DX SI DI
// BP SP IP FLAGS CS SS, then R8..R15. Mask 0xff0fff (facts: perf_abi 1.1).
enum class Register : uint8_t {
  kAx,
  kBx,
  kCx,
  kDx,
  kSi,
  kDi,
  kBp,
  kSp,
  kIp,
  kFlags,
  kCs,
  kSs,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15,
};
inline constexpr size_t kRegisterCount = 20;
inline constexpr uint64_t kRegisterMask = 0xff0fff;
using Registers = std::array<uint64_t, kRegisterCount>;

// One PERF_RECORD_SAMPLE of any event, fields that were not asked for are zero.
struct RawSample {
  uint64_t ip = 0;
  bool exact_ip = false;  // `ip` is the instruction's own, not where the interrupt came
  int32_t pid = 0;
  Tid tid = 0;
  Nanos time = 0;
  uint64_t address = 0;  // 0: the event gave none
  uint32_t cpu = 0;
  uint64_t event_id = 0;  // PERF_SAMPLE_IDENTIFIER: which event wrote it
  uint64_t period = 0;
  // Cycles; what each means is the engine's matter (facts: perf_abi 1.5). 0: not known.
  uint64_t weight = 0;
  uint16_t weight2 = 0;
  uint16_t weight3 = 0;
  bool has_data_src = false;
  uint64_t data_src = 0;          // perf_mem_data_src
  uint64_t physical_address = 0;  // 0: not known
  uint64_t page_bytes = 0;        // of the page that holds `address`
  std::span<const uint8_t> raw;   // of PERF_SAMPLE_RAW; lives as long as the record's bytes
  bool has_registers = false;
  Registers registers = {};
};

// The memory access a sample stands for.
struct Access {
  Evidence evidence = Evidence::kNone;
  uint64_t ip = 0;       // the instruction that accessed memory (not the one after it)
  uint64_t address = 0;  // meaningful for kExact and kApproximate; for kPcOnly the base register's
                         // value when it is still intact (names the object in practice), else 0
  uint8_t size_bytes = 0;
  bool is_load = false;
  bool is_store = false;
};

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_SAMPLE_H_
