// How the drain thread waits between two ticks: asleep, but at hand for threads that start (see
// capture/thread_start.h). Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_DRAIN_WAITER_H_
#define MEMAGENT_AGENT_RUNTIME_DRAIN_WAITER_H_

#include <cstddef>
#include <cstdint>

#include "agent/runtime/observation.h"

namespace memagent::runtime {

class DrainWaiter {
 public:
  explicit DrainWaiter(Observation& observation) : observation_(observation) {}

  // From now on, threads that start wait for their events if any can be opened.
  void Begin();
  void End();

  // Says in `log` when threads did not wait long enough.
  static void NoteStartsNotObserved(EventLog& log);

  // Until a tick is asked for, due in `nanos`, or desirable after so many starts.
  void Wait(uint64_t nanos);
  // What was asked for so far is served by the tick that begins now.
  void NoteTick();

 private:
  bool TickWanted() const;
  size_t ServeStartingThreads();

  // Descriptors and rings of threads that have ended are given back by ticks. An ordinary user may
  // lock about 1 MiB of rings.
  static constexpr size_t kStartsForTick = 8;
  // A new thread's ring is small: 400 page faults a millisecond are possible, and 580 fit.
  static constexpr Nanos kFirstLookNanos = 1'000'000;
  // From pthread_create to the new thread's first instruction it takes 20 to 50 us.
  static constexpr Nanos kStayAwakeNanos = 50'000;

  Observation& observation_;
  bool may_spin_ = false;
  uint32_t ticks_seen_ = 0;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_DRAIN_WAITER_H_
