#include "agent/capture/drain_wake.h"

#include <linux/futex.h>

#include "agent/base/syscall.h"

namespace memagent::capture {

constinit DrainSleep drain_sleep;

void WakeDrain() {
  drain_sleep.ticks_wanted.fetch_add(1);
  NudgeDrain();
}

void NudgeDrain() {
  if (!drain_sleep.asleep.load()) return;
  drain_sleep.word.fetch_add(1);
  base::Syscall(SYS_futex, &drain_sleep.word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace memagent::capture
