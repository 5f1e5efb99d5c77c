// The drain thread: the only crossing from hot to cold.
//
// Each tick: read every thread's ring, put the samples in order of time, resolve, attribute, look up
// nodes, aggregate; apply region events; adopt new threads and bury dead ones; write a checkpoint
// when one is due; serve end requests.
#ifndef MEMAGENT_AGENT_RUNTIME_DRAIN_H_
#define MEMAGENT_AGENT_RUNTIME_DRAIN_H_

#include "agent/runtime/session.h"

namespace memagent::runtime {

// Body of the drain thread; never returns (a pause ends the thread). `control` is a SessionControl*.
void RunDrain(void* control);

// Writes the profile in the calling thread, where no drain thread could be started.
void FinishInline(SessionControl& control);

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_DRAIN_H_
