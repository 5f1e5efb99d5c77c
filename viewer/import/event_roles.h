// What each event of a perf.data file is to us: which engine wrote its samples, if any. Pure.
#ifndef MEMAGENT_VIEWER_IMPORT_EVENT_ROLES_H_
#define MEMAGENT_VIEWER_IMPORT_EVENT_ROLES_H_

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/types.h"
#include "agent/decode/ibs_raw.h"
#include "viewer/import/perf_data_file.h"

namespace memagent::importer {

enum class EventUse : uint8_t {
  kNone,      // cycles, instructions, ...: its samples are left out
  kSideBand,  // perf's own, for the records of mappings and switches
  kAccess,    // hardware samples of memory accesses, or of instructions with their fate
  kTrace,     // no samples, but an AUX area full of them
  kFault,     // page faults with their addresses
};

struct EventRole {
  EventUse use = EventUse::kNone;
  EngineKind engine = EngineKind::kNone;
  std::string name;
  std::string_view period_unit;  // of attr.sample_period
  bool knows_latency = false;
  bool knows_source = false;
  bool tells_loads = false;
  bool tells_stores = false;
};

// One for each event of the file.
std::vector<EventRole> RolesOf(const PerfDataFile& file);

// Of an AMD machine; zeros for others.
decode::IbsProcessor ProcessorOf(const PerfMachine& machine);

// Number `field` of a CPU id of x86, "AuthenticAMD,25,17,1"; 0 where there is none. Vendor is 0.
uint32_t CpuIdNumber(const PerfMachine& machine, size_t field);

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_EVENT_ROLES_H_
