// Runs the code after a sample forward, registers only, until it comes round to the access again.
//
// Used where the access overwrote its own base (list walks): gives the address of the access' next
// instance, which is another element of the same structure. Loads make their destination unknown;
// the run ends at an undecidable jump, a call, or after kMaxEmulated instructions.
#ifndef MEMAGENT_AGENT_DECODE_X86_EMULATOR_H_
#define MEMAGENT_AGENT_DECODE_X86_EMULATOR_H_

#include <array>
#include <cstdint>

#include "agent/decode/x86_code_cache.h"
#include "agent/decode/x86_semantics.h"

namespace memagent::decode {

inline constexpr int kMaxEmulated = 64;

// The address of the next run of the instruction at `access_pc`, starting at `ip` with `gprs` and
// `flags`; nullopt when it is not reached or a register its address needs is unknown there.
Value NextInstanceAddress(uint64_t access_pc, uint64_t ip,
                          const std::array<uint64_t, kGprCount>& gprs, Flags flags,
                          uint64_t fs_base, InstructionCache& instructions);

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_X86_EMULATOR_H_
