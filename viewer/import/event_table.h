// Which event wrote a record, and what stands at the end of records that are no samples.
//
// With several events every record names its own by an id: first in a sample that has
// PERF_SAMPLE_IDENTIFIER, last in other records; else in the place of PERF_SAMPLE_ID, which perf
// makes the same for all of them. Source: perf_abi 1.2; perf.data-file-format.txt. Pure.
#ifndef MEMAGENT_VIEWER_IMPORT_EVENT_TABLE_H_
#define MEMAGENT_VIEWER_IMPORT_EVENT_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "agent/decode/perf_sample.h"
#include "viewer/import/perf_data_file.h"
#include "viewer/import/record_walk.h"

namespace memagent::importer {

inline constexpr uint32_t kNoCpu = UINT32_MAX;

// What sample_id_all puts behind a record that is no sample.
struct Trailer {
  bool present = false;
  int32_t pid = 0;
  int32_t tid = 0;
  std::optional<uint64_t> time;
  uint32_t cpu = kNoCpu;
  size_t event = 0;
};

class EventTable {
 public:
  // `events` must outlive the table and hold at least one.
  explicit EventTable(const std::vector<PerfEvent>& events);

  // Index of the event that wrote the sample; nullopt: its id is none that the file tells of.
  std::optional<size_t> OfSample(const RawRecord& sample) const;
  // Without reading the rest of it; nullopt: the event records no times.
  std::optional<uint64_t> TimeOfSample(const RawRecord& sample) const;

  Trailer TrailerOf(const RawRecord& record) const;
  // The event of an id inside a record; the first one's index for ids of none.
  size_t OfId(uint64_t id) const;

 private:
  std::optional<size_t> Find(uint64_t id) const;

  const std::vector<PerfEvent>& events_;
  std::unordered_map<uint64_t, size_t> by_id_;
};

decode::RecordLayout LayoutOf(const perf_event_attr& attr);

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_EVENT_TABLE_H_
