// What an engine would open on this machine: the events in the order to try them. Plain data, made
// by capture/event_selection.h, used up by the runtime and shown by `memagent check`.
#ifndef MEMAGENT_AGENT_CAPTURE_ENGINE_PLAN_H_
#define MEMAGENT_AGENT_CAPTURE_ENGINE_PLAN_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <string_view>

#include "agent/base/containers.h"
#include "agent/base/types.h"

namespace memagent::capture {

// Whose accesses an event counts.
enum class EventScope : uint8_t {
  kThread,  // one thread's, on any CPU
  kCpu,     // one CPU's, of every thread of the machine: samples of others are dropped by their pid
};

struct EventAttempt {
  perf_event_attr attr = {};
  // Opened first, as the leader of the group that `attr` joins, where has_leader (mem-loads-aux).
  perf_event_attr leader = {};
  bool has_leader = false;
  EventScope scope = EventScope::kThread;
  std::string_view event;  // "software/cpu-clock", "ibs_op//", "cpu/mem-loads,ldlat=30/"
  // What is lost against the attempt before it, one sentence; "" for the first of a ladder.
  std::string_view loss;
  bool has_registers = false;
};

// Attempts for one event, best first: the first that opens is taken.
using EventLadder = base::Vector<EventAttempt>;

// One engine on one machine.
struct EnginePlan {
  EngineKind engine = EngineKind::kNone;
  // Events that are open beside each other in every thread (loads, stores; one of each core type).
  // The engine works where one of `access` opens.
  base::Vector<EventLadder> access;
  uint64_t period = 0;           // of every access event
  std::string_view period_unit;  // "ns", "ops", "loads", "instructions"
  std::string_view rate_change;  // why it is not the period asked for, "" when it is
  bool uses_aux = false;         // samples come through an AUX area (SPE)
};

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_ENGINE_PLAN_H_
