#include "agent/os/perf_calls.h"

#include <errno.h>
#include <sys/mman.h>

#include <atomic>

#include "agent/base/syscall.h"

namespace memagent::os {
namespace {

using base::Syscall;

constinit std::atomic<bool> forbidden{false};

long Open(perf_event_attr* attr, const PerfTarget& target) {
  if (forbidden.load(std::memory_order_relaxed)) return -EPERM;
  return Syscall(SYS_perf_event_open, attr, target.tid, target.cpu, target.leader,
                 PERF_FLAG_FD_CLOEXEC);
}

long Map(void* start, size_t bytes, int flags, int fd, uint64_t offset) {
  return Syscall(SYS_mmap, start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, offset);
}

long Control(int fd, unsigned long request, uint64_t argument) {
  return Syscall(SYS_ioctl, fd, request, argument);
}

long Read(int fd, void* buffer, size_t bytes) { return Syscall(SYS_read, fd, buffer, bytes); }

}  // namespace

constinit const PerfCalls kernel_perf_calls = {Open, Map, Control, Read};
constinit const PerfCalls* perf_calls = &kernel_perf_calls;

void ForbidPerfEvents() { forbidden.store(true, std::memory_order_relaxed); }

}  // namespace memagent::os
