// The system calls that perf events take, in one place, so that a test can play the kernel
// (tests/support/fake_perf.h). All return what the kernel returns: a result or a negative errno.
// Calling thread: any; nothing allocates.
#ifndef MEMAGENT_AGENT_OS_PERF_CALLS_H_
#define MEMAGENT_AGENT_OS_PERF_CALLS_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>

#include "agent/base/types.h"

namespace memagent::os {

// Whom an event counts.
struct PerfTarget {
  Tid tid = 0;      // 0: the calling thread; -1: everybody on `cpu`
  int cpu = -1;     // -1: on any CPU
  int leader = -1;  // descriptor of the group's leader; -1: the event is a group of its own
};

struct PerfCalls {
  long (*open)(perf_event_attr* attr, const PerfTarget& target);
  // mmap, writable and shared, with `flags` beside that.
  long (*map)(void* start, size_t bytes, int flags, int fd, uint64_t offset);
  long (*control)(int fd, unsigned long request, uint64_t argument);  // ioctl
  long (*read)(int fd, void* buffer, size_t bytes);
};

// The kernel's own.
extern const PerfCalls kernel_perf_calls;
// Those in use. Only a test changes it, while nobody calls.
extern const PerfCalls* perf_calls;

// From here on opening gives EPERM without a system call: it would kill (sandbox_probe.h).
void ForbidPerfEvents();

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_PERF_CALLS_H_
