// How host threads wake the drain thread: a system call only when it sleeps.
//
//   host thread: leave work, then "asleep?"       drain thread: "I sleep", then "any work?"
//
// Each side's store comes before its load (seq_cst), so one of the two sees the other.
#ifndef MEMAGENT_AGENT_CAPTURE_DRAIN_WAKE_H_
#define MEMAGENT_AGENT_CAPTURE_DRAIN_WAKE_H_

#include <atomic>
#include <cstdint>

namespace memagent::capture {

struct DrainSleep {
  std::atomic<uint32_t> word{0};  // futex
  std::atomic<bool> asleep{false};
  std::atomic<uint32_t> ticks_wanted{0};  // how often host threads asked for one
};
extern constinit DrainSleep drain_sleep;

// Asks the drain thread for a tick now. Calling thread: any.
void WakeDrain();

// Wakes the drain thread if it sleeps, to look whether a thread starts. Calling thread: any.
void NudgeDrain();

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_DRAIN_WAKE_H_
