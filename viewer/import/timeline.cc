#include "viewer/import/timeline.h"

#include <algorithm>

namespace memagent::importer {
namespace {

bool IsOfUse(uint32_t type) {
  switch (type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
    case PERF_RECORD_COMM:
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
    case PERF_RECORD_THROTTLE:
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
    case PERF_RECORD_ITRACE_START:
      return true;
    default:
      return false;
  }
}

class Maker {
 public:
  Maker(const EventTable& events, const std::vector<EventRole>& roles)
      : events_(events), roles_(roles) {}

  void Add(const RawRecord& record, uint64_t offset) {
    if (record.type == PERF_RECORD_SAMPLE) {
      AddSample(record, offset);
    } else if (IsOfUse(record.type)) {
      AddAt(events_.TrailerOf(record).time, offset);
    }
  }

  std::vector<Happening>& timeline() { return timeline_; }

 private:
  // Samples of no known event are kept: they must be counted.
  void AddSample(const RawRecord& record, uint64_t offset) {
    const std::optional<size_t> event = events_.OfSample(record);
    if (event && roles_[*event].use != EventUse::kAccess &&
        roles_[*event].use != EventUse::kFault) {
      return;
    }
    AddAt(events_.TimeOfSample(record), offset);
  }

  void AddAt(std::optional<uint64_t> time, uint64_t offset) {
    last_time_ = time.value_or(last_time_);
    timeline_.push_back({last_time_, offset, false});
  }

  const EventTable& events_;
  const std::vector<EventRole>& roles_;
  std::vector<Happening> timeline_;
  uint64_t last_time_ = 0;
};

}  // namespace

std::vector<Happening> MakeTimeline(const PerfDataFile& file, const EventTable& events,
                                    const std::vector<EventRole>& roles, const SpeTraces& traces) {
  Maker maker(events, roles);
  RecordWalk walk(file.records);
  uint64_t offset = 0;
  for (RawRecord record; walk.Next(record); offset = walk.offset()) maker.Add(record, offset);
  std::vector<Happening>& timeline = maker.timeline();
  for (size_t i = 0; i < traces.accesses.size(); ++i) {
    timeline.push_back({traces.accesses[i].time, i, true});
  }
  std::stable_sort(timeline.begin(), timeline.end(),
                   [](const Happening& a, const Happening& b) { return a.time < b.time; });
  return std::move(timeline);
}

}  // namespace memagent::importer
