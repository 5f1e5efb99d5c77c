// The life of the agent in one process.
//
//   (hooks record)          StartSession          end requests: exit, _exit, exec, abort
//   -------------- kIdle ------------------> kRunning ----------------------------------> ...
//                    |                          |  fork: the child starts its own session
//                    '--> kOff (MEMAGENT=off, set-uid, not followed)
//
// All work is done by the drain thread; this is the hand-shake with it. Nothing here waits without
// a bound.
#ifndef MEMAGENT_AGENT_RUNTIME_SESSION_H_
#define MEMAGENT_AGENT_RUNTIME_SESSION_H_

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "agent/runtime/code_changes.h"
#include "agent/runtime/credentials.h"
#include "agent/runtime/request.h"
#include "agent/runtime/settings.h"

namespace memagent::runtime {

// What the drain thread and host threads say to each other.
struct SessionControl {
  int32_t pid = 0;
  bool forked = false;  // a child of fork that has not executed anything
  const Settings* settings = nullptr;
  std::atomic<uint64_t> start_cpu_nanos{0};  // what StartSession took of the main thread
  std::atomic<uint32_t> ready{0};          // futex: 1 once descriptors are private, 2 once the
                                           // first thread's events are open
  std::atomic<uint32_t> host_ready{0};     // futex: 1 once the host has loaded its decoder
  std::atomic<uint32_t> end_requested{0};  // number of end requests so far
  std::atomic<const char*> end_how{nullptr};
  std::atomic<uint32_t> end_done{0};  // futex: requests that have been served
  std::atomic<int32_t> drain_tid{0};  // the kernel clears it when the drain thread is gone
  Credentials credentials;            // what the drain thread is to take
  Request credentials_request;
  CodeChanges code_changes;
  std::atomic<bool> pause_requested{false};  // the drain thread is to end, and may come back
  std::atomic<bool> loop_taken{false};       // a host thread has sent the drain thread away, or
                                             // does its work
  void* loop = nullptr;                      // its DrainLoop, kept while it is away
  std::atomic<bool> loop_is_idle{false};     // no thread runs it and it holds no descriptor
  // What the host thread says on stderr for the drain thread, before end_done is raised.
  char announcement[1024] = {};

  void SetAnnouncement(std::string_view text) {
    const size_t n = text.size() < sizeof(announcement) ? text.size() : sizeof(announcement) - 1;
    memcpy(announcement, text.data(), n);
    announcement[n] = '\0';
  }
};

// Reads the settings and starts the session, once. Calling thread: the constructor's.
void StartSession();

// Brings the profile up to date with a footer that says `how`, and waits at most kEndMillis for it.
// Calling thread: any; does nothing in another process than the session's.
void EndSession(const char* how);
inline constexpr uint64_t kEndMillis = 5000;

// The same for a process that a signal is about to kill: the supervisor that sent it does not wait
// long. Calling thread: any, in a signal handler; without a drain thread nothing can be done.
void EndSessionDying(const char* how);
inline constexpr uint64_t kDyingMillis = 1000;

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_SESSION_H_
