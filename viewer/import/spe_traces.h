// Arm SPE in a perf.data file: AUX areas, copied into it piece by piece, and what tells whose they
// are. Pure; trusts nothing.
//
// A piece is of one CPU, or of one thread. Threads of a CPU's piece are told by its records'
// context, or by who ran there at that time, which only a replay knows. Source: perf_abi 4.3, 4.4;
// tools/perf/util/arm-spe.h for the layout of the facts.
#ifndef MEMAGENT_VIEWER_IMPORT_SPE_TRACES_H_
#define MEMAGENT_VIEWER_IMPORT_SPE_TRACES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "agent/decode/hardware_access.h"
#include "agent/decode/spe_data_source.h"
#include "viewer/import/event_table.h"
#include "viewer/import/perf_data_file.h"

namespace memagent::importer {

struct TraceAccess {
  uint64_t time = 0;  // of the events' clock; UINT64_MAX: not known, after all others
  int32_t tid = -1;   // -1: whoever ran on `cpu`
  uint32_t cpu = kNoCpu;
  uint64_t physical_address = 0;  // 0: not told
  uint64_t perf_data_source = 0;  // the word that perf 7.2 makes of it
  decode::HardwareAccess hardware;
};

struct TraceCounts {
  uint64_t damaged = 0;     // records that are of no use
  uint64_t bad_bytes = 0;   // that are no packet
  uint64_t unfinished = 0;  // pieces that end within a record
  uint64_t truncated = 0;   // times the area was full: what was not written then is not counted
  uint64_t collisions = 0;  // times an operation was chosen while another was still followed
};

struct SpeTraces {
  std::vector<TraceAccess> accesses;  // in the file's order
  TraceCounts counts;
};

SpeTraces ReadSpeTraces(const PerfDataFile& file, const EventTable& events);

// Which data source codes a CPU has, from the facts of the tracer or the machine's CPU id.
class TraceCpus {
 public:
  explicit TraceCpus(const PerfDataFile& file);
  // kNoCpu: of a CPU that is not known; the machine's, if it has one kind only.
  decode::SpeCpu Of(uint32_t cpu) const;

 private:
  void TakeFacts(const std::vector<uint64_t>& facts);

  std::map<uint32_t, decode::SpeCpu> by_cpu_;
  decode::SpeCpu any_;
};

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_SPE_TRACES_H_
