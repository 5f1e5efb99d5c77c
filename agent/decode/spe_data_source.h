// Where an access was served, as a record of Arm SPE tells it. Pure. Calling thread: any.
//
// Two packets tell it. The data source is what the core saw, in a code of the core's maker: three
// codes are known, by MIDR. Events say which caches were looked into; they are the same everywhere.
// Source: perf_abi 4.5; perf 7.2 gives the words that SpePerfDataSource() is tested to equal.
#ifndef MEMAGENT_AGENT_DECODE_SPE_DATA_SOURCE_H_
#define MEMAGENT_AGENT_DECODE_SPE_DATA_SOURCE_H_

#include <cstdint>

#include "agent/base/data_source.h"
#include "agent/decode/spe_record.h"

namespace memagent::decode {

// Which code a core's data sources are in.
enum class SpeEncoding : uint8_t { kUnknown, kCommon, kAmpereOne, kHisilicon };

// `midr`: /sys/devices/system/cpu/cpuN/regs/identification/midr_el1. Revisions don't matter.
SpeEncoding SpeEncodingOf(uint64_t midr);

struct SpeCpu {
  SpeEncoding encoding = SpeEncoding::kUnknown;
  // caps/event_filter of the PMU has the bit of SpeEvent::kSnooped: without the event, then, no
  // other core was asked.
  bool tells_snoops = false;
};

// What we believe. It differs from perf where perf says more than the record does:
//   * no data source: perf takes it for source 0 (L1, or on AmpereOne and HiSilicon another core's
//     cache); for us only the events count;
//   * stores: perf says nothing on cores with a known code; for us the events count;
//   * "DRAM" of the common and AmpereOne codes: perf says local; some cores say it of the other
//     socket's as well, so the locality is unknown unless the remote event says it;
//   * atomic and exclusive accesses are locked.
// A record that is not of a memory access has op kUnknown.
DataSource SpeDataSource(const SpeRecord& record, const SpeCpu& cpu);

// The word of perf_mem_data_src that perf 7.2 makes of the record; 0 when it is not of a memory
// access. For comparison and for the view that is compatible with `perf c2c`.
uint64_t SpePerfDataSource(const SpeRecord& record, const SpeCpu& cpu);

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_SPE_DATA_SOURCE_H_
