// CRC-32C (Castagnoli), the checksum of a profile chunk. Polynomial 0x1EDC6F41, reflected, initial
// value and final xor 0xffffffff (RFC 3720 B.4): Crc32c("123456789") == 0xe3069283.
#ifndef MEMAGENT_AGENT_PROFILE_CRC32C_H_
#define MEMAGENT_AGENT_PROFILE_CRC32C_H_

#include <cstdint>
#include <span>

namespace memagent::profile {

// Uses the SSE4.2 instruction where the CPU has it. Calling thread: any; touches no shared state.
uint32_t Crc32c(std::span<const char> bytes);

// The table version on its own, so that tests can compare the two.
uint32_t Crc32cPortable(std::span<const char> bytes);

}  // namespace memagent::profile

#endif  // MEMAGENT_AGENT_PROFILE_CRC32C_H_
