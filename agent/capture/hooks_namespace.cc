// unshare and setns. The kernel lets only a single-threaded process into another user namespace, and
// the drain thread is a second thread (pitfalls P45): it steps aside for the call.
#include <errno.h>

#include "agent/capture/hooks.h"
#include "agent/capture/process_events.h"

namespace memagent::capture {
namespace {

// Calls `run()` while the process has no thread of ours. errno is what `run` left.
template <typename Run>
int WithoutDrainThread(Run run) {
  const ProcessEvents* events = process_events.load(std::memory_order_acquire);
  const bool paused = events != nullptr && events->pause();
  const int result = run();
  const int error = errno;
  if (paused) events->resume();
  errno = error;
  return result;
}

}  // namespace
}  // namespace memagent::capture

using namespace memagent::capture;  // NOLINT: the hooks below are C functions

MEMAGENT_HOOK int unshare(int flags) {
  if (!RealReady() || real.unshare == nullptr) return -1;
  return WithoutDrainThread([=] { return real.unshare(flags); });
}

MEMAGENT_HOOK int setns(int fd, int kind) {
  if (!RealReady() || real.setns == nullptr) return -1;
  return WithoutDrainThread([=] { return real.setns(fd, kind); });
}
