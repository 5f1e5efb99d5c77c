// unshare and setns. The kernel lets only a single-threaded process into another user namespace,
// and the drain thread is a second thread (pitfalls P45): it steps aside for the call.
#include "agent/capture/hooks.h"
#include "agent/capture/stand_aside.h"

using namespace memagent::capture;  // NOLINT: the hooks below are C functions

MEMAGENT_HOOK int unshare(int flags) {
  if (!RealReady() || real.unshare == nullptr) return -1;
  return WithoutDrainThread([=] { return real.unshare(flags); });
}

MEMAGENT_HOOK int setns(int fd, int kind) {
  if (!RealReady() || real.setns == nullptr) return -1;
  return WithoutDrainThread([=] { return real.setns(fd, kind); });
}
