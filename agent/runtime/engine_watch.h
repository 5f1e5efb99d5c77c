// Whether the engine in use does anything: an event can open and then stay silent for ever, because
// other events hold the hardware, or because a hypervisor only pretends to have it (facts: perf_abi
// 8.1). Pure. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_ENGINE_WATCH_H_
#define MEMAGENT_AGENT_RUNTIME_ENGINE_WATCH_H_

#include <cstdint>
#include <span>

#include "agent/capture/engine_plan.h"
#include "agent/runtime/observed_event.h"

namespace memagent::runtime {

enum class EventState : uint8_t {
  kTooEarly,      // it was not enabled for long
  kWorks,         // or nothing says that it does not
  kNeverRan,      // enabled, but the kernel found no room for it in the hardware
  kNeverSampled,  // it runs, and counts, or must; no sample comes of it
};

// `counts` are sums over all threads. Of hardware that counts chosen accesses, none may have been.
EventState StateOf(const EventCounts& counts, const capture::EnginePlan& plan);

// kTooEarly also while some event may still turn out to work; else kWorks when one does.
EventState StateOfEngine(std::span<const EventCounts> events, const capture::EnginePlan& plan);

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_ENGINE_WATCH_H_
