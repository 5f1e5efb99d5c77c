// Everything about machine and process that the profile's header says, read once.
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_MACHINE_FACTS_H_
#define MEMAGENT_AGENT_RUNTIME_MACHINE_FACTS_H_

#include "agent/base/containers.h"
#include "agent/base/options.h"
#include "agent/capture/engine_facts.h"
#include "agent/capture/event_selection.h"
#include "agent/capture/skid_calibration.h"
#include "agent/os/machine.h"
#include "agent/os/topology.h"
#include "agent/profile/writer.h"
#include "agent/runtime/observation.h"
#include "agent/runtime/session.h"

namespace memagent::runtime {

struct ProcessFacts {
  base::String executable;
  base::Vector<base::String> arguments;
  base::String working_directory;
};

// What has to be known before the first event can be opened, and no more: the host waits for it.
using EarlyFacts = capture::EngineFacts;

// The rest.
struct LateFacts {
  os::Machine machine;
  os::Topology topology;
  ProcessFacts process;
};
LateFacts ReadLateFacts(const EarlyFacts& early);

capture::EventSelection Select(const EarlyFacts& facts, const base::Options& options);

// Writes the header. `skid.ticks_total` 0: not calibrated (a run too short for it).
bool WriteHeader(profile::ProfileWriter& writer, const SessionControl& control,
                 const EarlyFacts& early, const LateFacts& late,
                 const capture::EventSelection& selection, const EngineInUse& engine,
                 const capture::SkidCalibration& skid, Nanos started, uint64_t started_unix);

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_MACHINE_FACTS_H_
