// Opens what the agent would open, and says what came of it.
#ifndef MEMAGENT_INJECT_ENGINE_PROBE_H_
#define MEMAGENT_INJECT_ENGINE_PROBE_H_

#include <vector>

#include "agent/capture/event_selection.h"
#include "inject/capabilities.h"

namespace memagent::inject {

// Plans first, in their order, then the engines without one. At most one is chosen. Each plan's
// events are opened for the calling thread, one after the other, and closed again.
std::vector<EngineFinding> ProbeEngines(const capture::EngineFacts& facts,
                                        const capture::EventSelection& selection);

// One ladder of `engine`: its attempts in turn, until one opens.
EventFinding ProbeLadder(const capture::EngineFacts& facts, EngineKind engine,
                         const capture::EventLadder& ladder);

// Pure. What a record of this attempt can tell, in words.
std::vector<std::string> GivenBy(EngineKind engine, const capture::EventAttempt& attempt);

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_ENGINE_PROBE_H_
