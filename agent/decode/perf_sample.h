// The body of a PERF_RECORD_SAMPLE, from bytes to fields. Pure; trusts no length.
//
// Every field of uapi perf_event.h up to Linux 7.2 is understood: those we have no use for are
// skipped, since `memagent import` reads what others asked for. Calling thread: any.
#ifndef MEMAGENT_AGENT_DECODE_PERF_SAMPLE_H_
#define MEMAGENT_AGENT_DECODE_PERF_SAMPLE_H_

#include <cstdint>
#include <optional>

#include "agent/decode/record_reader.h"
#include "agent/decode/sample.h"

namespace memagent::decode {

// What one event was asked to write into its samples: fields of its perf_event_attr.
struct RecordLayout {
  uint64_t sample_type = 0;
  uint64_t register_mask = 0;  // sample_regs_user; a subset of kRegisterMask to be of use
  uint64_t read_format = 0;
  uint64_t branch_sample_type = 0;
  uint64_t interrupt_register_mask = 0;  // sample_regs_intr
};

// Whether every bit of the layout is known. Samples of others are not parsed.
bool IsSupportedLayout(const RecordLayout& layout);

// nullopt when the body is shorter or longer than the layout says.
std::optional<RawSample> TakeSample(RecordReader reader, const RecordLayout& layout);

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_PERF_SAMPLE_H_
