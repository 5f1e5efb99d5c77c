// AMD IBS op samples with PERF_SAMPLE_RAW: the registers that the kernel read, and what they say.
//
// They say more than the kernel's data source: prefetches (which look like loads there), the width
// of the access, the page size and refill time of its TLB entry, the socket. And the kernel's word
// depends on its age, which ours does not (source: perf_abi 2.5, 2.6; the registers are documented
// in AMD's PPR of each family). Pure; any thread.
#ifndef MEMAGENT_AGENT_DECODE_IBS_RAW_H_
#define MEMAGENT_AGENT_DECODE_IBS_RAW_H_

#include <cstdint>
#include <optional>
#include <span>

#include "agent/base/data_source.h"

namespace memagent::decode {

// CPUID's family and model: what the registers mean depends on it in two places. Zeros: not known,
// taken as a part without errata.
struct IbsProcessor {
  uint32_t family = 0;
  uint32_t model = 0;
};

// IBS_CAPS: CPUID 8000_001B EAX, which leads the raw sample.
namespace ibs_caps {
inline constexpr uint32_t kInvalidIpCheck = 0x80;   // a register says whether the address is wrong
inline constexpr uint32_t kZen4 = 0x800;            // five bits of data source instead of three
inline constexpr uint32_t kRemoteSocket = 0x10000;  // since Zen 6
inline constexpr uint32_t kTlbPageSize = 0x80000;   // since Zen 5: the page size is a number
}  // namespace ibs_caps

// The registers of one tagged instruction, by meaning. Latencies are in core cycles; 0: not told.
struct IbsOp {
  uint32_t caps = 0;
  uint64_t ip = 0;  // of the tagged instruction; 0: the hardware says it does not know
  uint16_t completion_to_retire_cycles = 0;
  uint16_t tag_to_retire_cycles = 0;

  bool load = false;
  bool store = false;  // with `load`: a read-modify-write
  bool software_prefetch = false;
  bool locked = false;
  bool uncached = false;
  uint8_t width_bytes = 0;  // 0: not told

  bool l1_miss = false;
  bool l2_miss = false;
  bool already_on_its_way = false;  // a miss that needed no buffer of its own ("DcMissNoMabAlloc")
  uint16_t miss_cycles = 0;         // from the L1 miss to the data; of loads, not prefetches

  uint8_t source = 0;             // IBS_OP_DATA2's DataSrc, all five bits
  bool remote_node = false;       // of memory: it hangs at another node than this core's
  bool remote_socket = false;     // needs kRemoteSocket
  bool cache_line_clean = false;  // CacheHitSt: the cache that had the line had it not modified

  bool l1_tlb_miss = false;
  bool l2_tlb_miss = false;
  uint16_t tlb_refill_cycles = 0;
  uint64_t tlb_page_bytes = 0;  // of the TLB entry that was hit, since Zen 5 of any; 0: not told

  bool address_known = false;
  uint64_t address = 0;         // of the data; 0 unless address_known
  bool physical_known = false;  // tells of the TLB fields too where kTlbPageSize
  uint64_t physical = 0;        // 0: not known, or hidden from who opened the event
};

// `raw` is the sample's raw part without the size in front of it. nullopt when it is too short, cut
// inside a register, or not marked as a sample. Registers behind the seven we read may be missing
// or new.
std::optional<IbsOp> ParseIbsOp(std::span<const uint8_t> raw, const IbsProcessor& processor);

// perf_mem_data_src as Linux 7.2 derives it from the registers. For an instruction that neither
// loads nor stores: "not available".
uint64_t IbsDataSource(const IbsOp& op, const IbsProcessor& processor);

// What DecodeDataSource() makes of IbsDataSource(), and what only the registers tell: prefetches
// are such, another node may be known to be of another socket. Better than the word of a kernel
// before 6.2, which does not tell a neighbour's cache from a remote one.
DataSource DecodeIbsOp(const IbsOp& op, const IbsProcessor& processor);

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_IBS_RAW_H_
