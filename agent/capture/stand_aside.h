// The drain thread steps aside for a call that the kernel refuses because of it.
#ifndef MEMAGENT_AGENT_CAPTURE_STAND_ASIDE_H_
#define MEMAGENT_AGENT_CAPTURE_STAND_ASIDE_H_

#include <errno.h>

#include "agent/base/syscall.h"
#include "agent/capture/process_events.h"

namespace memagent::capture {

// Calls `run()` while the process has no thread of ours; errno is what `run` left. A child of fork
// that comes back through `run` has a session of its own and is left alone.
template <typename Run>
auto WithoutDrainThread(Run run) {
  const ProcessEvents* events = Events();
  const bool paused = events != nullptr && events->pause();
  const long pid = paused ? base::Syscall(SYS_getpid) : 0;  // in a sandbox no call of ours
  const auto result = run();
  const int error = errno;
  if (paused && base::Syscall(SYS_getpid) == pid) events->resume();
  errno = error;
  return result;
}

// `start()` makes a process or a thread. At the limit of either (RLIMIT_NPROC, pids.max) the kernel
// may count the drain thread as the one too many: then it is tried once more without it.
// `refused(result)` tells whether the result is that refusal.
template <typename Start, typename Refused>
auto StartAtLimit(Start start, Refused refused) {
  const auto result = start();
  return refused(result) ? WithoutDrainThread(start) : result;
}

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_STAND_ASIDE_H_
