#include "agent/profile/crc32c.h"

#include <array>
#include <atomic>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace memagent::profile {
namespace {

constexpr uint32_t kReflectedPolynomial = 0x82f63b78;

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1) != 0 ? kReflectedPolynomial : 0);
    }
    table[byte] = value;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = MakeTable();

#if defined(__x86_64__)
// cpuid by hand: __builtin_cpu_supports would add a constructor of libgcc's to the agent.
bool HasCrcInstruction() {
  static constinit std::atomic<int> known{-1};
  int has = known.load(std::memory_order_relaxed);
  if (has < 0) {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    has = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_SSE4_2) != 0 ? 1 : 0;
    known.store(has, std::memory_order_relaxed);
  }
  return has == 1;
}

[[gnu::target("sse4.2")]] uint32_t Crc32cHardware(std::span<const char> bytes) {
  uint64_t crc = 0xffffffff;
  const char* next = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, next += 8) {
    uint64_t word;
    std::memcpy(&word, next, 8);
    crc = __builtin_ia32_crc32di(crc, word);
  }
  uint32_t crc32 = static_cast<uint32_t>(crc);
  for (; left > 0; --left, ++next) {
    crc32 = __builtin_ia32_crc32qi(crc32, static_cast<unsigned char>(*next));
  }
  return ~crc32;
}
#endif

}  // namespace

uint32_t Crc32cPortable(std::span<const char> bytes) {
  uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  }
  return ~crc;
}

uint32_t Crc32c(std::span<const char> bytes) {
#if defined(__x86_64__)
  if (HasCrcInstruction()) return Crc32cHardware(bytes);
#endif
  return Crc32cPortable(bytes);
}

}  // namespace memagent::profile
