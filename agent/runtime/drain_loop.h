// The drain thread's work, tick by tick. See drain.h. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_DRAIN_LOOP_H_
#define MEMAGENT_AGENT_RUNTIME_DRAIN_LOOP_H_

#include <optional>

#include "agent/aggregate/aggregator.h"
#include "agent/attribute/attributor.h"
#include "agent/attribute/modules.h"
#include "agent/os/clock.h"
#include "agent/runtime/checkpoint.h"
#include "agent/runtime/descriptor_reserve.h"
#include "agent/runtime/economy.h"
#include "agent/runtime/drain_waiter.h"
#include "agent/runtime/machine_facts.h"
#include "agent/runtime/observation.h"
#include "agent/runtime/own_cost_reader.h"
#include "agent/runtime/placement_watch.h"
#include "agent/runtime/sample_pipeline.h"
#include "agent/runtime/session.h"
#include "agent/runtime/stack_export.h"

namespace memagent::runtime {

class DrainLoop {
 public:
  explicit DrainLoop(SessionControl& control);

  // Everything the host waits for: the first thread's events are open when this returns.
  void Start(EarlyFacts early);
  // For a process without a drain thread: facts only.
  void StartWithoutEvents();

  // Until a pause is asked for or no host thread is left. Returns the status to end the thread with:
  // that of the last thread is the process's.
  int Run();

  // In a new drain thread, after a pause.
  void Resume();

  // Takes what is pending and writes a checkpoint that ends with a footer.
  void Finish(const char* how);

 private:
  // `last`: of what is there now, nothing may be left for the next one.
  void Tick(bool last = false);
  // Puts the times that hardware wrote on the kernel's clock.
  void TellTimes();
  void TakeRegionEvents();
  void ServeEndRequests();
  void ServeCredentialRequests();
  void ServeCodeChanges();
  void FollowCode();
  void CreateProfile();
  void Housekeep();
  void CountMappings(Nanos now);
  // The exit status to end with when the last host thread ended by a raw exit system call: the process
  // then lives only for us. nullopt: it lives.
  std::optional<int> StatusWhenAlone();
  void WriteCheckpoint(const char* how);
  bool WriteHeaderTo(profile::ProfileWriter& writer);
  base::String OutputPath() const;
  void LearnLateFacts();
  void NoteStartProblems();
  void NoteProgramsLeftAlone();
  void Announce(const char* how);
  void AppendRunReport(std::string_view problem);
  profile::OwnCostData OwnCost() const;
  void Publish(uint64_t settled_tsc);

  SessionControl& control_;
  const base::Options& options_;
  Nanos started_;
  uint64_t started_unix_;
  os::TscClock clock_;
  EventLog log_;
  attribute::Modules modules_;
  attribute::Attributor attributor_;
  aggregate::Aggregator aggregator_;
  Observation observation_;
  DrainWaiter waiter_;
  SamplePipeline pipeline_;
  PlacementWatch placement_;
  OwnCostReader own_cost_;
  Economy economy_;
  StackExport stacks_;
  Checkpoint checkpoint_;
  EarlyFacts early_;
  LateFacts late_;
  bool late_known_ = false;
  capture::EventSelection selection_;
  const capture::EnginePlan* header_plan_ = nullptr;  // that the profile's header names
  base::Vector<PendingSample> batch_;
  base::Vector<ledger::RegionEvent> region_events_;
  uint64_t last_tick_ = 0;
  uint64_t tick_ = 0;
  uint64_t sleep_nanos_ = 1'000'000;
  Nanos next_turn_ = 0;
  Nanos next_count_ = 0;
  Nanos next_checkpoint_ = 0;
  DescriptorReserve reserve_;
  bool outlived_main_ = false;  // host threads ran on after the main thread's end
  bool output_failed_ = false;
  bool reported_ = false;  // in the file of `memagent run`
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_DRAIN_LOOP_H_
