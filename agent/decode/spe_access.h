// What a record of Arm SPE says as a sample: as decode/hardware_access.h, from packets instead of
// the kernel's record. Pure; any thread.
#ifndef MEMAGENT_AGENT_DECODE_SPE_ACCESS_H_
#define MEMAGENT_AGENT_DECODE_SPE_ACCESS_H_

#include "agent/decode/hardware_access.h"
#include "agent/decode/spe_data_source.h"
#include "agent/decode/spe_record.h"

namespace memagent::decode {

// `record` is not damaged; `cpu` is the one that wrote it. The latency is that from dispatch to the
// end, as perf takes it.
HardwareAccess SpeAccess(const SpeRecord& record, const SpeCpu& cpu);

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_SPE_ACCESS_H_
