// The records of a perf.data file in the order of their times. perf writes them CPU by CPU, in
// rounds; what a sample's address belongs to is only known in the order in which things happened.
#ifndef MEMAGENT_VIEWER_IMPORT_TIMELINE_H_
#define MEMAGENT_VIEWER_IMPORT_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "viewer/import/event_roles.h"
#include "viewer/import/event_table.h"
#include "viewer/import/perf_data_file.h"
#include "viewer/import/spe_traces.h"

namespace memagent::importer {

// One thing that happened: a record, or an access of a trace.
struct Happening {
  uint64_t time = 0;
  uint64_t index = 0;  // a record's offset in the file's records, or an access's index
  bool is_trace_access = false;
};

// Ascending by time; what has the same time stays in the file's order. Records that tell no time
// have that of the record before them. Samples of events without a use for us are left out.
std::vector<Happening> MakeTimeline(const PerfDataFile& file, const EventTable& events,
                                    const std::vector<EventRole>& roles, const SpeTraces& traces);

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_TIMELINE_H_
