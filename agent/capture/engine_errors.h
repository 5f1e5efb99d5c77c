// What an errno of perf_event_open, or of what is done with its descriptor, means, and what to do
// about it.
//
// One table for the agent's profile, `memagent check` and the tests (facts: perf_abi 1.6
// to 1.8, 2.2, 3.2, 4.2, 8.2, 8.4). Pure data; calling thread: any.
#ifndef MEMAGENT_AGENT_CAPTURE_ENGINE_ERRORS_H_
#define MEMAGENT_AGENT_CAPTURE_ENGINE_ERRORS_H_

#include <cstdint>
#include <string_view>

#include "agent/base/types.h"
#include "agent/capture/engine_facts.h"
#include "agent/capture/engine_plan.h"

namespace memagent::capture {

enum class EngineStep : uint8_t {
  kOpen,
  kMap,       // the ring
  kMapAux,    // the AUX area (SPE)
  kRedirect,  // records into another event's ring
  kControl,   // an ioctl: its id, or starting it
  kRun,       // it opened, and its time ran; no errno: the kernel never had room for it
  kSample,    // it ran; no errno: no sample came of it
};

struct EngineError {
  std::string_view name;     // "EACCES"
  std::string_view meaning;  // one sentence
  std::string_view remedy;   // one sentence
};

// What one errno means depends on who asked for what.
struct ErrorContext {
  EngineKind engine = EngineKind::kSoftware;
  int perf_event_paranoid = 2;
  os::KernelVersion kernel;
  EventScope scope = EventScope::kThread;
  bool asks_kernel = false;    // samples of kernel code
  bool asks_physical = false;  // physical addresses
  bool has_leader = false;
};

ErrorContext ContextOf(const EngineFacts& facts, EngineKind engine, const EventAttempt& attempt);

// `error` is a positive errno. Never fails: an errno without a row gets a row that says so.
EngineError ExplainEngineError(EngineStep step, int error, const ErrorContext& context);

// The same for an event of the software engine.
EngineError ExplainEngineError(EngineStep step, int error, int perf_event_paranoid);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_ENGINE_ERRORS_H_
