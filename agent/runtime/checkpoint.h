// Brings the profile on disk up to date: appends what changed since the last time. When the file
// has grown to several times what its content needs, it is written anew beside itself and put in
// place in one step. Calling thread: the drain thread (or the exiting thread without one).
#ifndef MEMAGENT_AGENT_RUNTIME_CHECKPOINT_H_
#define MEMAGENT_AGENT_RUNTIME_CHECKPOINT_H_

#include <functional>

#include "agent/aggregate/aggregator.h"
#include "agent/attribute/attributor.h"
#include "agent/base/containers.h"
#include "agent/profile/profile_file.h"
#include "agent/profile/writer.h"
#include "agent/runtime/credentials.h"
#include "agent/runtime/event_log.h"
#include "agent/runtime/observation.h"
#include "agent/runtime/own_cost_reader.h"
#include "agent/runtime/placement_report.h"
#include "agent/runtime/placement_watch.h"
#include "agent/runtime/site_counts.h"
#include "agent/runtime/stack_export.h"

namespace memagent::runtime {

// What a checkpoint reads.
struct CheckpointSources {
  aggregate::Aggregator& aggregator;
  attribute::Attributor& attributor;
  Observation& observation;
  PlacementWatch& placement;
  StackExport& stacks;
  EventLog& log;
  const OwnCostReader& own_cost;
};

class Checkpoint {
 public:
  explicit Checkpoint(const CheckpointSources& from) : from_(from), writer_(file_) {}

  // Creates the file (once) and writes the header with `write_header`. False when there is no file
  // to write to: problem() says why.
  template <typename WriteHeader>
  bool Begin(std::string_view path, WriteHeader write_header) {
    if (!file_.path().empty()) return true;
    return file_.Create(path) && write_header(writer_);
  }

  // Appends what changed. `how` is the footer's word for the last one; nullptr: more will follow.
  // `own` holds the cost figures that only the drain loop knows.
  void Write(const char* how, profile::OwnCostData own, const profile::EconomyData& economy);

  // Whether the file should be written anew, which the caller does between the two calls: the
  // header is its business.
  bool IsOvergrown() const;
  template <typename WriteHeader>
  void Rewrite(WriteHeader write_header) {
    if (!file_.BeginRewrite()) return;
    writer_.StartOver();
    StartOver();
    write_header(writer_);
    rewriting_ = true;
  }

  // The next checkpoint opens the file again, unless OpenFile did before its name led elsewhere.
  void CloseFile() { file_.Close(); }
  // To the effective user and group, which the process is about to become.
  void GiveFileTo(const Credentials& to) { file_.GiveTo(to.user[1], to.group[1]); }
  void OpenFile() { file_.Open(); }

  std::string_view path() const { return file_.path(); }
  base::String problem() const { return file_.Sentence(); }
  // The program's own limits stopped the writing: no reason to write on its stderr.
  bool stopped_by_limit() const {
    return file_.problem() == profile::FileProblem::kSizeLimit ||
           file_.problem() == profile::FileProblem::kTooManyOpen;
  }

 private:
  struct LastCounts {
    uint64_t allocations = 0;
    uint64_t frees = 0;
    uint64_t bytes = 0;
  };

  void StartOver();
  void WriteThreads();
  void WriteSites(const SiteCounts& counts);
  void WriteTotals(const SiteCounts& counts, bool final, const profile::OwnCostData& own,
                   const profile::EconomyData& economy);
  void EndTotals(const SiteCounts& counts, aggregate::Accounting process, profile::OwnCostData own,
                 const profile::EconomyData& economy);
  void WriteEventTotals(const aggregate::Accounting& process, const profile::OwnCostData& own,
                        const profile::EconomyData& economy);
  aggregate::Accounting WriteThreadTotals();
  void WriteSiteTotal(SiteId site, const SiteCount& counts);
  void WriteEvents();
  void WriteReservoir();
  // Of an address, or of what SiteStats keeps in its place.
  uint32_t FrameOfCode(uint64_t code);
  void NoteCodeFrames();

  CheckpointSources from_;
  profile::ProfileFile file_;
  profile::ProfileWriter writer_;
  PlacementReport placements_;
  base::Vector<LastCounts> last_counts_;  // by site id
  base::HashMap<uint32_t, bool> site_written_;
  uint32_t threads_written_ = 0;
  size_t events_written_ = 0;
  bool everything_ = true;  // the next totals hold all sites and threads
  bool rewriting_ = false;
  uint64_t compact_bytes_ = 0;  // size after the last rewrite or first checkpoint
  uint64_t checkpoints_ = 0;
  uint64_t nanos_ = 0;  // of those before this one
  uint64_t cpu_nanos_ = 0;
  Nanos begun_ = 0;         // this one
  uint64_t cpu_begun_ = 0;  // by the clock of this thread's CPU time
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_CHECKPOINT_H_
