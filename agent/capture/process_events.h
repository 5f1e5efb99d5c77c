// What the process hooks tell the session. The session (runtime/) stands to the right of this
// stage, so it registers itself here.
#ifndef MEMAGENT_AGENT_CAPTURE_PROCESS_EVENTS_H_
#define MEMAGENT_AGENT_CAPTURE_PROCESS_EVENTS_H_

#include <atomic>

namespace memagent::capture {

struct ProcessEvents {
  // The process image is about to end; `how` is the Footer's word. Brings the profile up to date
  // and waits for it, for a bounded time. May be called more than once. Does nothing in a process
  // that is not the session's own (a vfork child shares its memory).
  void (*ending)(const char* how);
  // The same from a signal handler: shorter, and never in the calling thread, whose stack may be
  // small.
  void (*dying)(const char* how);
  // Whether programs that this process executes are to run without the agent.
  bool (*keep_from_children)();
  // Around a system call that refuses a process with more than one thread: the drain thread ends
  // and starts anew. pause() returns whether there was one.
  bool (*pause)();
  void (*resume)();
  // The calling thread's credentials changed, and with them the process's: the drain thread, which
  // libc does not know, takes them too.
  void (*credentials_changed)();
  // Around the unloading of a library: the drain thread takes what refers to its code, and then
  // knows that other code may come to its place. Waits for it, for a bounded time.
  void (*code_changing)();
  // In the child of a fork that ran no pthread_atfork handlers.
  void (*forked)();
  // Handlers in place of fatal default dispositions, as the option signals= says (fatal_signals.h).
  void (*cover_signals)();
};

extern constinit std::atomic<const ProcessEvents*> process_events;

// nullptr: nobody is to be told (no session, not followed, or a sandbox in which no system call of
// ours may be made).
inline const ProcessEvents* Events() { return process_events.load(std::memory_order_acquire); }

inline void AnnounceEnd(const char* how) {
  if (const ProcessEvents* events = Events()) events->ending(how);
}

// `result` is that of the call that changed them.
template <typename Result>
Result FollowedCredentials(Result result) {
  const ProcessEvents* events = Events();
  if (result == 0 && events != nullptr) events->credentials_changed();
  return result;
}

// The same for a fork that ran no handlers.
template <typename Result>
Result FollowedFork(Result child) {
  const ProcessEvents* events = Events();
  if (child == 0 && events != nullptr) events->forked();
  return child;
}

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_PROCESS_EVENTS_H_
