// Measures what this machine takes for a page of memory: to hand it out, to record its fault, to
// take it back. In a virtual machine each is several times what it is outside of one.
//
// Calling thread: the drain thread, whose CPU time it takes, about 0.4 ms. Raw system calls only;
// every descriptor and mapping is gone on return.
#ifndef MEMAGENT_AGENT_CAPTURE_PAGE_TRIAL_H_
#define MEMAGENT_AGENT_CAPTURE_PAGE_TRIAL_H_

#include <linux/perf_event.h>

namespace memagent::capture {

struct PageTrial {
  double record_nanos = 0;  // more for a fault that is recorded; 0: not known
  double unmap_nanos = 0;   // to give one page back; 0: not known
};

// `faults`: the event that records faults; nullptr: none does.
PageTrial TryPages(const perf_event_attr* faults, double nanos_per_tick);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_PAGE_TRIAL_H_
