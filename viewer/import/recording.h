// A perf.data file, read and booked: everything that a profile is made of.
#ifndef MEMAGENT_VIEWER_IMPORT_RECORDING_H_
#define MEMAGENT_VIEWER_IMPORT_RECORDING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/import/booking.h"
#include "viewer/import/event_roles.h"
#include "viewer/import/event_table.h"
#include "viewer/import/machine_nodes.h"
#include "viewer/import/modules.h"
#include "viewer/import/perf_data_file.h"
#include "viewer/import/sample_decoder.h"
#include "viewer/import/spe_traces.h"
#include "viewer/import/world.h"

namespace memagent::importer {

struct ImportOptions {
  std::optional<int32_t> pid;      // nullopt: all processes
  AllocationLog allocations = {};  // empty: none was given
  uint64_t kept_samples = 20'000;  // single samples in the profile, as raw_samples= of the agent
};

struct EventCount {
  uint64_t samples = 0;
  uint64_t lost = 0;
  uint64_t throttled = 0;
};

class Recording {
 public:
  // The options outlive it.
  Recording(PerfDataFile file, const ImportOptions& options);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Why nothing can be made of it, in one sentence; "" when something can.
  std::string Problem(std::string_view name) const;
  // What is missing and how to record it, a sentence each.
  std::vector<std::string> Notes() const;

  const PerfDataFile& file() const { return file_; }
  const std::vector<EventRole>& roles() const { return roles_; }
  const std::vector<EventCount>& counts() const { return counts_; }  // by event
  // The event that the profile is of: the access event with the most samples, else page faults.
  size_t main_event() const;
  const MachineNodes& nodes() const { return nodes_; }
  const Modules& modules() const { return modules_; }
  const World& world() const { return world_; }
  Booking& booking() { return booking_; }
  // The one process that samples were booked of; 0: of several.
  int32_t only_pid() const;

 private:
  void FindHeaps();
  void Replay();
  void TakeRecord(const RawRecord& record, uint64_t time);
  void TakeSample(const RawRecord& record);
  void TakeLoss(const RawRecord& record);
  void TakeTraceAccess(const TraceAccess& access);
  void CountLost(size_t event, uint64_t count);
  bool IsWanted(int32_t pid);
  // Of the events that are of no use here; "" when there are none.
  std::string OtherEvents() const;
  std::vector<std::string> TraceNotes() const;
  std::vector<std::string> LogNotes() const;

  const PerfDataFile file_;
  const ImportOptions& options_;
  const std::vector<EventRole> roles_;
  const EventTable events_;
  const SpeTraces traces_;
  const MachineNodes nodes_;
  Modules modules_;
  World world_;
  LoggedBlocks blocks_;
  Booking booking_;
  const decode::IbsProcessor processor_;
  std::vector<EventCount> counts_;
  size_t trace_event_ = 0;
  uint64_t other_processes_ = 0;  // samples that options_.pid left out
  bool loses_by_event_ = false;   // losses are told event by event
};

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_RECORDING_H_
