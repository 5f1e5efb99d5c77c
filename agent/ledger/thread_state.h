// The agent's only thread-local storage: 40 bytes, constant-initialised, initial-exec.
#ifndef MEMAGENT_AGENT_LEDGER_THREAD_STATE_H_
#define MEMAGENT_AGENT_LEDGER_THREAD_STATE_H_

#include "agent/ledger/thread_record.h"

namespace memagent::ledger {

struct ThreadState {
  ThreadRecord* record;     // nullptr until the thread's first event
  uint32_t depth;           // > 0: this thread is inside a hook, or belongs to the agent
  uint32_t countdown;       // recorded hooks until the next that is timed (cost_meter.h)
  uint32_t sample_weight;   // how many hooks that one will stand for
  ThreadCreation creation;  // set before the record is made, which takes it over
};

extern thread_local constinit ThreadState thread_state [[gnu::tls_model("initial-exec")]];

// Added to depth where an event inside a hook is no loss: while an operator-delete hook, which has
// recorded already, calls the real one, and while the session loads a library of its own.
inline constexpr uint32_t kForwarding = 1u << 16;

// Holds the re-entrancy guard for a scope. entered() is false when the thread was inside already.
// Never put one into a frame that calls host code: no destructor may run there (facts A3).
class HookGuard {
 public:
  HookGuard() : entered_(thread_state.depth++ == 0) {}
  ~HookGuard() { --thread_state.depth; }
  HookGuard(const HookGuard&) = delete;
  HookGuard& operator=(const HookGuard&) = delete;
  bool entered() const { return entered_; }

 private:
  bool entered_;
};

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_THREAD_STATE_H_
