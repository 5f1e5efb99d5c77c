// sigaction and its relatives: the host reads the dispositions that it set itself, not the cover of
// fatal_signals.h, and a signal set back to its default is covered again. Nothing else is changed;
// the functions stay safe in signal handlers and in vfork children.
#include <errno.h>
#include <signal.h>

#include "agent/capture/fatal_signals.h"
#include "agent/capture/hooks.h"

namespace memagent::capture {
namespace {

// `set` is signal() or a relative of the same type.
SignalHandler SetHandler(SignalHandler (*set)(int, SignalHandler), int number,
                         SignalHandler handler) {
  if (set == nullptr) {
    errno = ENOSYS;
    return SIG_ERR;
  }
  const SignalHandler before = AsSetByHost(set(number, handler));
  if (before != SIG_ERR && handler == SIG_DFL) CoverAgain(number);
  return before;
}

}  // namespace
}  // namespace memagent::capture

using namespace memagent::capture;  // NOLINT: the hooks below are C functions

MEMAGENT_HOOK int sigaction(int number, const struct sigaction* wanted, struct sigaction* before) {
  if (!RealReady() || real.sigaction == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  const bool to_default = wanted != nullptr && wanted->sa_handler == SIG_DFL;
  const int result = real.sigaction(number, wanted, before);
  if (result != 0) return result;
  if (before != nullptr) ShowAsSetByHost(number, *before);
  if (to_default) CoverAgain(number);
  return result;
}

#define MEMAGENT_SIGNAL(name)                                              \
  MEMAGENT_HOOK SignalHandler name(int number, SignalHandler handler) {    \
    return SetHandler(RealReady() ? real.name : nullptr, number, handler); \
  }

MEMAGENT_SIGNAL(signal)
MEMAGENT_SIGNAL(bsd_signal)
MEMAGENT_SIGNAL(ssignal)
MEMAGENT_SIGNAL(sysv_signal)
MEMAGENT_SIGNAL(__sysv_signal)
MEMAGENT_SIGNAL(sigset)
