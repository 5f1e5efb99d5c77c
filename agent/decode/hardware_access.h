// What a sample of a hardware engine says: the access, where it was served, how long it took.
//
// IBS tags instructions of every kind, so most of its samples are of no memory access: that is no
// loss, and they are told apart from accesses whose address is missing. Pure; any thread.
#ifndef MEMAGENT_AGENT_DECODE_HARDWARE_ACCESS_H_
#define MEMAGENT_AGENT_DECODE_HARDWARE_ACCESS_H_

#include <cstdint>
#include <optional>

#include "agent/base/data_source.h"
#include "agent/base/reasons.h"
#include "agent/decode/ibs_raw.h"
#include "agent/decode/profileme.h"
#include "agent/decode/sample.h"

namespace memagent::decode {

struct HardwareAccess {
  Access access;
  // Why it can be booked on no allocation, where the access has no address of ours.
  UnattributedReason why = UnattributedReason::kUnknownRegion;
  DataSource source;
  // Cycles; 0: not told.
  uint32_t latency_cycles = 0;  // of the access, from issue to data
  uint16_t instruction_cycles =
      0;  // of the whole instruction: AMD to its retirement, Intel to its end
  uint16_t tlb_refill_cycles = 0;
  // ProfileMe: what became of the instruction, which need not be an access.
  std::optional<ProfileMeSample> fate;
  uint64_t page_bytes = 0;  // of the page that was accessed, as its translation has it; 0: not told
};

// `sample.raw` must still be there: an IBS sample's registers say more than the kernel's word, and
// are used where the event had them. `processor` matters to IBS only.
HardwareAccess DecodeHardware(EngineKind engine, const RawSample& sample,
                              const IbsProcessor& processor);

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_HARDWARE_ACCESS_H_
