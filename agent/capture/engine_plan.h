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
  base::String event;  // "software/cpu-clock", "ibs_op/cnt_ctl=1/", "cpu/mem-loads,ldlat=3/"
  // What this attempt can't tell that the engine can at its best, in sentences; "" for nothing.
  base::String loss;
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
  // Whoever moves the period stays at a multiple of this, and at shortest_period or above: the
  // kernel refuses other values (IBS), or takes them and does something else.
  uint64_t period_step = 1;
  uint64_t shortest_period = 1;
  bool varies_itself = false;    // the hardware randomizes each interval: nothing to move
  std::string_view rate_change;  // why it is not the period asked for, "" when it is
  bool uses_aux = false;         // samples come through an AUX area (SPE)
};

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_ENGINE_PLAN_H_
