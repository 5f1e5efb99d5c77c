// Records of Arm SPE: the packets of one sampled instruction, put together. Pure: no system call,
// trusts no length. Calling thread: any.
//
// The order of packets within a record differs between cores, and any may be missing: a record has
// what its instruction and the event's configuration give. What is missing is not 0: a record
// without a data source says nothing of where the access was served (perf takes it for source 0,
// which is L1 on most cores). Source: facts, perf_abi 4.4.
#ifndef MEMAGENT_AGENT_DECODE_SPE_RECORD_H_
#define MEMAGENT_AGENT_DECODE_SPE_RECORD_H_

#include <cstdint>
#include <optional>
#include <span>

#include "agent/decode/spe_operation.h"
#include "agent/decode/spe_packet.h"

namespace memagent::decode {

struct SpeRecord {
  uint64_t pc = 0;  // of the sampled instruction itself; 0: not told
  uint64_t branch_target = 0;
  uint64_t virtual_address = 0;   // without the tag in its top byte; 0: not told
  uint64_t physical_address = 0;  // 0: not told
  uint64_t events = 0;            // a bit for each SpeEvent
  uint64_t timestamp = 0;  // ticks of the generic timer: os/perf_time.h, os/clock.h; 0: not told
  std::optional<uint64_t> data_source;  // its meaning: decode/spe_data_source.h
  std::optional<uint32_t> context_id;   // CONTEXTIDR: the thread's id in its root pid namespace
  // Cycles, and the largest value when it was more.
  std::optional<uint16_t> total_latency;        // from dispatch to the end
  std::optional<uint16_t> issue_latency;        // from dispatch to issue
  std::optional<uint16_t> translation_latency;  // of the address
  SpeOperation operation;
  bool is_load = false;
  bool is_store = false;
  uint8_t exception_level = 0;  // that `pc` ran at: 0 is user space
  // Bytes that are no packets stood in it, or packets came twice, as they do where the end of the
  // record before was lost: what it says may be of two instructions. Count it, use it for nothing.
  bool damaged = false;

  bool Has(SpeEvent event) const { return (events >> static_cast<int>(event) & 1) != 0; }
  bool is_memory_access() const { return (is_load || is_store) && virtual_address != 0; }
};

// Since the reader was made.
struct SpeCounts {
  uint64_t records = 0;
  uint64_t damaged = 0;     // of `records`
  uint64_t bad_bytes = 0;   // that no packet starts with
  uint64_t unfinished = 0;  // 1: the bytes ended within a record
};

// Reads what one PERF_RECORD_AUX announced: the kernel stops the hardware before it announces, so
// records end where the announced bytes end.
class SpeRecordReader {
 public:
  // `offset`: where `bytes` start in the AUX stream.
  SpeRecordReader(std::span<const uint8_t> bytes, uint64_t offset)
      : bytes_(bytes), offset_(offset) {}

  // The next record, whatever it is of; false at the end.
  bool Next(SpeRecord& record);

  const SpeCounts& counts() const { return counts_; }

 private:
  std::span<const uint8_t> bytes_;
  uint64_t offset_;
  SpeCounts counts_;
};

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_SPE_RECORD_H_
