// Libraries that are unloaded while the program runs: what was seen in them keeps their names,
// although other libraries come to their addresses (pitfalls P80).
//
// Before dlclose unmaps anything the drain thread takes the samples that are pending, while the
// code they point to can still be read, and looks which libraries there are. Afterwards it names
// what it counted in those that are gone, and retires their frames: what a library in the same
// place does then is booked apart.
#ifndef MEMAGENT_AGENT_RUNTIME_CODE_CHANGES_H_
#define MEMAGENT_AGENT_RUNTIME_CODE_CHANGES_H_

#include <atomic>
#include <cstdint>

#include "agent/aggregate/aggregator.h"
#include "agent/attribute/modules.h"
#include "agent/runtime/event_log.h"
#include "agent/runtime/request.h"
#include "agent/runtime/stack_export.h"

namespace memagent::runtime {

class CodeChanges {
 public:
  // Waits until the drain thread has looked. A program that unloads all the time is not slowed down
  // by more than a twentieth: then it goes on, and that is counted. Calling thread: any host
  // thread.
  void Announce();

  // Says that it went on, if it did. Calling thread: the drain thread, as for Serve.
  void NoteUnobserved(EventLog& log) const;
  template <typename F>
  void Serve(F serve) {
    request_.Serve(serve);
  }

 private:
  Request request_;
  std::atomic<uint64_t> waited_nanos_{0};
  std::atomic<uint64_t> first_nanos_{0};  // time of the first announcement
  std::atomic<uint32_t> unobserved_{0};
};

// Settles what refers to the modules that the last look at the maps found gone. Calling thread: the
// drain thread.
void SettleGoneModules(attribute::Modules& modules, aggregate::Aggregator& aggregator,
                       StackExport& stacks);

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_CODE_CHANGES_H_
