#include "viewer/import/recording.h"

#include <algorithm>
#include <utility>

#include "agent/decode/perf_record.h"
#include "viewer/concat.h"
#include "viewer/import/perf_format.h"
#include "viewer/import/timeline.h"

namespace memagent::importer {
namespace {

using viewer::Append;
using viewer::Concat;

std::string_view HowToRecord(const PerfMachine& machine) {
  if (machine.cpu_id.starts_with("AuthenticAMD")) {
    return "perf mem record, or perf record -d -W -e ibs_op// -- PROGRAM.";
  }
  if (machine.cpu_id.starts_with("GenuineIntel")) {
    return "perf mem record, or perf record -d -W -e cpu/mem-loads,ldlat=30/P -- PROGRAM.";
  }
  return "perf mem record -- PROGRAM.";
}

uint64_t SumOf(const std::vector<EventCount>& counts, const std::vector<EventRole>& roles,
               EventUse use) {
  uint64_t sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) sum += roles[i].use == use ? counts[i].samples : 0;
  return sum;
}

bool AnyAsks(const std::vector<PerfEvent>& events, bool (*asks)(const perf_event_attr&)) {
  return std::any_of(events.begin(), events.end(),
                     [&](const PerfEvent& event) { return asks(event.attr); });
}

}  // namespace

Recording::Recording(PerfDataFile file, const ImportOptions& options)
    : file_(std::move(file)),
      options_(options),
      roles_(RolesOf(file_)),
      events_(file_.events),
      traces_(file_.auxtrace_type == kAuxtraceArmSpe ? ReadSpeTraces(file_, events_) : SpeTraces()),
      nodes_(file_.machine),
      modules_(file_.build_ids),
      blocks_(options.allocations),
      booking_(world_, modules_, nodes_, blocks_, options.kept_samples),
      processor_(ProcessorOf(file_.machine)),
      counts_(file_.events.size()),
      loses_by_event_(AnyAsks(file_.events, [](const perf_event_attr& attr) {
        return (attr.read_format & PERF_FORMAT_LOST) != 0;
      })) {
  trace_event_ = main_event();
  FindHeaps();
  Replay();
}

// Until it grows for the first time, the heap is told as an anonymous mapping.
void Recording::FindHeaps() {
  RecordWalk walk(file_.records);
  for (RawRecord record; walk.Next(record);) {
    if (record.type != PERF_RECORD_MMAP && record.type != PERF_RECORD_MMAP2) continue;
    const std::optional<MmapRecord> mmap = ParseMmap(record);
    if (mmap && mmap->path == kHeapName) world_.NoteHeap(mmap->pid, mmap->start);
  }
}

void Recording::Replay() {
  for (const Happening& happening : MakeTimeline(file_, events_, roles_, traces_)) {
    blocks_.Advance(happening.time);
    if (happening.is_trace_access) {
      TakeTraceAccess(traces_.accesses[happening.index]);
      continue;
    }
    RawRecord record;
    RecordWalk walk(file_.records.subspan(happening.index));
    if (walk.Next(record)) TakeRecord(record, happening.time);
  }
  blocks_.Advance(UINT64_MAX);
  booking_.Drop(DropReason::kMalformedRecord, traces_.counts.damaged);
}

void Recording::TakeRecord(const RawRecord& record, uint64_t time) {
  switch (record.type) {
    case PERF_RECORD_SAMPLE:
      return TakeSample(record);
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
    case PERF_RECORD_THROTTLE:
      return TakeLoss(record);
    default:
      return world_.Apply(record, events_.TrailerOf(record), time);
  }
}

bool Recording::IsWanted(int32_t pid) {
  const bool wanted = !options_.pid || *options_.pid == pid;
  other_processes_ += !wanted;
  return wanted;
}

void Recording::TakeSample(const RawRecord& record) {
  const std::optional<size_t> event = events_.OfSample(record);
  std::optional<ImportedSample> sample;
  if (event) {
    sample = DecodeSample(record, file_.events[*event], roles_[*event], processor_);
  }
  if (!sample) return booking_.Drop(DropReason::kMalformedRecord, 1);
  if (!IsWanted(sample->pid)) return;
  ++counts_[*event].samples;
  if (roles_[*event].use == EventUse::kFault) {
    const perf_event_attr& attr = file_.events[*event].attr;
    booking_.BookFault(*sample, attr.freq ? 1 : static_cast<double>(attr.sample_period));
  } else {
    booking_.BookSample(*sample);
  }
}

void Recording::CountLost(size_t event, uint64_t count) {
  counts_[event].lost += count;
  if (roles_[event].use == EventUse::kFault) {
    booking_.aggregator().Thread(0).accounting.DropFaults(DropReason::kRingLost, count);
  } else {
    booking_.Drop(DropReason::kRingLost, count);
  }
}

// LOST counts records of any kind, and names the event that wrote next: they count as our samples.
// Where perf asked each event for its own losses it says them in LOST_SAMPLES, and these count.
void Recording::TakeLoss(const RawRecord& record) {
  const auto parsed = decode::ParseRecord(record.bytes, {});
  if (!parsed) return;
  const size_t event = record.type == PERF_RECORD_LOST_SAMPLES ? events_.TrailerOf(record).event
                                                               : events_.OfId(parsed->event_id);
  if (record.type == PERF_RECORD_THROTTLE) {
    ++counts_[event].throttled;
  } else if (record.type == PERF_RECORD_LOST) {
    if (!loses_by_event_) CountLost(main_event(), parsed->count);
  } else if ((record.misc & kMiscLostByFilter) == 0 && roles_[event].use != EventUse::kNone) {
    CountLost(event, parsed->count);
  }
}

void Recording::TakeTraceAccess(const TraceAccess& access) {
  ImportedSample sample;
  sample.time = access.time;
  sample.cpu = access.cpu;
  sample.tid = access.tid;
  if (sample.tid < 0 && access.cpu != kNoCpu) sample.tid = world_.RunningOn(access.cpu);
  sample.pid = sample.tid < 0 ? 0 : world_.PidOf(sample.tid);
  sample.hardware = access.hardware;
  sample.physical_address = access.physical_address;
  sample.data_source = access.perf_data_source;
  if (!IsWanted(sample.pid)) return;
  ++counts_[trace_event_].samples;
  booking_.BookSample(sample);
}

size_t Recording::main_event() const {
  const auto weight = [this](size_t i) {
    const EventUse use = roles_[i].use;
    const bool access = use == EventUse::kAccess || use == EventUse::kTrace;
    return std::pair(access ? 2 : use == EventUse::kFault ? 1 : 0, counts_[i].samples);
  };
  size_t best = 0;
  for (size_t i = 1; i < roles_.size(); ++i) {
    if (weight(i) > weight(best)) best = i;
  }
  return best;
}

int32_t Recording::only_pid() const {
  const std::vector<uint32_t>& threads = booking_.threads();
  if (threads.empty()) return 0;
  const int32_t pid = world_.threads()[threads.front()].pid;
  const bool all = std::all_of(threads.begin(), threads.end(),
                               [&](uint32_t index) { return world_.threads()[index].pid == pid; });
  return all ? pid : 0;
}

std::string Recording::OtherEvents() const {
  constexpr size_t kMostNames = 4;
  std::string names;
  size_t count = 0;
  for (const EventRole& role : roles_) {
    if (role.use != EventUse::kNone) continue;
    if (++count <= kMostNames) Append(names, names.empty() ? "" : ", ", role.name);
  }
  return count > kMostNames ? Concat(names, " and ", count - kMostNames, " more") : names;
}

std::string Recording::Problem(std::string_view name) const {
  const uint64_t faults = SumOf(counts_, roles_, EventUse::kFault);
  if (booking_.accesses() + booking_.fates() + faults > 0) return "";
  if (options_.pid && other_processes_ > 0) {
    return Concat(name, " has no memory access of process ", *options_.pid, ".");
  }
  const EventRole& main = roles_[main_event()];
  const std::string others = OtherEvents();
  if (main.use == EventUse::kNone || main.use == EventUse::kSideBand) {
    return Concat(name, " has no memory events", others.empty() ? "" : ", only ", others,
                  ": record them with ", HowToRecord(file_.machine));
  }
  if (counts_[main_event()].samples == 0) {
    return Concat(name, " has no sample of ", main.name,
                  ": record longer, or with a smaller period.");
  }
  return Concat(name, ": none of the ", counts_[main_event()].samples, " samples of ", main.name,
                " is of a memory access: record with ", HowToRecord(file_.machine));
}

std::vector<std::string> Recording::TraceNotes() const {
  std::vector<std::string> notes;
  const TraceCounts& counts = traces_.counts;
  if (counts.truncated > 0) {
    notes.push_back(Concat("The AUX area was full ", counts.truncated,
                           " times: what was lost then is not counted. Record with -m ,16M or a "
                           "larger period."));
  }
  if (counts.collisions > 0) {
    notes.push_back(Concat("Operations were passed over ", counts.collisions,
                           " times because one before was still followed: use a larger period."));
  }
  if (counts.bad_bytes > 0) {
    notes.push_back(Concat(counts.bad_bytes, " bytes of the AUX area are no packets: skipped."));
  }
  return notes;
}

std::vector<std::string> Recording::LogNotes() const {
  std::vector<std::string> notes;
  const AllocationLog& log = options_.allocations;
  if (log.bad_lines > 0) {
    notes.push_back(Concat(
        log.bad_lines, " lines of the allocation log are not understood, the first is line ",
        log.first_bad_line, ": TIME PID alloc ADDRESS SIZE [SITE] or TIME PID free ADDRESS."));
  }
  if (log.events.empty()) return notes;
  if (log.events.front().time_nanos > booking_.last_time() ||
      log.events.back().time_nanos < booking_.first_time()) {
    notes.push_back(
        "The allocation log is of another time than the recording: let both use one clock, as "
        "perf record -k CLOCK_MONOTONIC does.");
  }
  if (blocks_.contradictions() > 0) {
    notes.push_back(Concat(blocks_.contradictions(),
                           " events of the allocation log contradict earlier ones (a free of no "
                           "live block, a block where one lives): it is not whole."));
  }
  return notes;
}

std::vector<std::string> Recording::Notes() const {
  std::vector<std::string> notes = file_.warnings;
  const auto add = [&](bool when, std::string text) {
    if (when) notes.push_back(std::move(text));
  };
  const std::string others = OtherEvents();
  const uint64_t unknown = booking_.places().unknown_addresses();
  const bool maps_data =
      AnyAsks(file_.events, [](const perf_event_attr& attr) { return attr.mmap_data != 0; });
  add(booking_.accesses() + booking_.fates() == 0,
      Concat("No memory accesses were recorded, only page faults: record with ",
             HowToRecord(file_.machine)));
  add(!others.empty(), Concat("Samples of other events are left out: ", others, "."));
  add(unknown > 0,
      Concat(unknown, " samples are in memory that no record tells of",
             maps_data ? "." : ": record with -d, which perf mem record has by itself."));
  add(booking_.without_cpu() > 0 && file_.machine.nodes.size() > 1,
      Concat(booking_.without_cpu(),
             " samples do not tell their CPU, so its node is unknown: record with --sample-cpu."));
  add(world_.maps_not_copied() > 0,
      Concat(world_.maps_not_copied(), " processes were followed without what they inherited."));
  add(other_processes_ > 0, Concat(other_processes_, " samples of other processes are left out."));
  for (const std::vector<std::string>& more : {TraceNotes(), LogNotes()}) {
    notes.insert(notes.end(), more.begin(), more.end());
  }
  return notes;
}

}  // namespace memagent::importer
