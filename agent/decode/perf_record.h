// One record of a perf ring, from bytes to fields. Pure: no state, no system call, trusts no
// length.
//
// Field order is perf_output_sample()'s, which is not the order of the sample_type bits
// (facts: perf_abi 1.2; uapi perf_event.h, PERF_RECORD_SAMPLE). Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_DECODE_PERF_RECORD_H_
#define MEMAGENT_AGENT_DECODE_PERF_RECORD_H_

#include <cstdint>
#include <optional>
#include <span>

#include "agent/base/types.h"
#include "agent/decode/perf_sample.h"
#include "agent/decode/sample.h"
#include "agent/os/aux_ring.h"

namespace memagent::decode {

enum class RecordKind : uint8_t {
  kSample,
  kLost,         // `count` records of event `event_id` found no room
  kLostSamples,  // `count` samples were lost before they reached the ring
  kThrottle,     // the kernel stopped the event `event_id` until the next tick
  kUnthrottle,
  kExit,   // thread `tid` ended
  kAux,    // `aux` is there to be read; `time`, `tid`, `cpu` and `event_id` where `has_trailer`
  kOther,  // of a type we don't ask for: skipped
};

// Fields beyond `kind` are meaningful for the kinds that name them above; `sample` for kSample.
struct PerfRecord {
  RecordKind kind = RecordKind::kOther;
  RawSample sample;
  uint64_t event_id = 0;
  uint64_t count = 0;
  Tid tid = 0;
  Nanos time = 0;  // kThrottle, kUnthrottle, kExit
  os::AuxChunk aux;
  // The record ended in what sample_id_all puts there, as far as the layout has it. An AUX chunk is
  // of one CPU: the kernel announces one when the thread leaves it.
  bool has_trailer = false;
  uint32_t cpu = 0;
};

// Which event wrote this record, when every event of the ring has PERF_SAMPLE_IDENTIFIER: the id is
// then the first field of a sample. nullopt for records that are not samples.
std::optional<uint64_t> PeekSampleEventId(std::span<const uint8_t> record);

// Parses a whole record (header included). nullopt when it is shorter or longer than its type and
// `layout` say: then the ring or our idea of the event is wrong, and it must be counted, not used.
std::optional<PerfRecord> ParseRecord(std::span<const uint8_t> record, const RecordLayout& layout);

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_PERF_RECORD_H_
