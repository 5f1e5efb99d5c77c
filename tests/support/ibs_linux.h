// IBS registers as bytes of a raw sample, and what Linux of several ages makes of them (facts:
// perf_abi 2.4, 2.5). The agent derives what the newest does; tests compare all of them.
#ifndef MEMAGENT_TESTS_SUPPORT_IBS_LINUX_H_
#define MEMAGENT_TESTS_SUPPORT_IBS_LINUX_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "agent/decode/data_source_bits.h"
#include "agent/decode/ibs_raw.h"

namespace memagent::testing {

struct IbsRegisters {
  uint32_t caps = 0xbff;  // Genoa's
  uint64_t control = uint64_t{1} << 18;
  uint64_t ip = 0x401000;
  uint64_t data = 0;
  uint64_t data2 = 0;
  uint64_t data3 = 0;
  uint64_t address = 0x7f133c319ce0;
  uint64_t physical = 0x270485ce0;
  uint64_t branch_target = 0;
};

inline std::vector<uint8_t> IbsRaw(const IbsRegisters& in) {
  const uint64_t registers[] = {in.control, in.ip,      in.data,     in.data2,
                                in.data3,   in.address, in.physical, in.branch_target};
  std::vector<uint8_t> raw(sizeof(in.caps) + sizeof(registers));
  std::memcpy(raw.data(), &in.caps, sizeof(in.caps));
  std::memcpy(raw.data() + sizeof(in.caps), registers, sizeof(registers));
  return raw;
}

enum class LinuxAge { kBefore6_2, kSince6_2 };

// Before 6.2 only the places that had no old level bit got a number and a distance, and I/O lost
// its "hit".
inline uint64_t LinuxIbsDataSource(const decode::IbsOp& op, const decode::IbsProcessor& processor,
                                   LinuxAge age) {
  namespace mem = decode::mem;
  const uint64_t word = decode::IbsDataSource(op, processor);
  if (age == LinuxAge::kSince6_2) return word;
  const uint64_t number = mem::kNumber.Of(word);
  if (number == mem::number::kPmem || number == mem::number::kCxl) return word;
  const uint64_t distance = mem::kRemote.Put(1) | mem::kHops.Put(7);
  if (number == mem::number::kIo) {
    const uint64_t no_hit = word & ~mem::kLevel.Put(mem::level::kHit);
    return no_hit | (op.remote_node ? mem::kRemote.Put(1) | mem::kHops.Put(mem::hops::kNode) : 0);
  }
  return word & ~(mem::kNumber.Put(0xf) | distance);
}

// The first half of the kernel's weight; the second is the op's tag_to_retire_cycles. Linux takes
// the latency of prefetches too, which AMD says means nothing.
inline uint32_t LinuxIbsWeight(const decode::IbsOp& op, const IbsRegisters& registers) {
  return op.load && op.l1_miss ? static_cast<uint16_t>(registers.data3 >> 32) : 0;
}

}  // namespace memagent::testing

#endif  // MEMAGENT_TESTS_SUPPORT_IBS_LINUX_H_
