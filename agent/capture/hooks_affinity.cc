// sched_setaffinity and pthread_setaffinity_np: where threads shall run. glibc has no functions for
// memory policies; libnuma has, and makes the system calls by syscall(), which is hooked (D33).
#include <errno.h>
#include <sched.h>

#include "agent/capture/hooks.h"
#include "agent/capture/placement_recorder.h"

namespace memagent::capture {
namespace {

struct CpuMask {
  size_t bytes;
  const cpu_set_t* cpus;
};

// Up to glibc 2.3.3 these functions took no size, and the mask of 1,024 bits came second. Our
// symbols have no version and answer such a program, too: what it passes for a size is an address.
// Programs of that time are linked to 4 MiB; a mask of so many bytes would be one of 32 million
// CPUs. Other architectures than x86-64 never had these functions.
CpuMask MaskOf(size_t bytes, const cpu_set_t* cpus) {
#if defined(__x86_64__)
  constexpr size_t kLowestAddress = 0x400000;
  constexpr size_t kHighestAddress = size_t{1} << 47;
  if (bytes >= kLowestAddress && bytes < kHighestAddress) {
    return {sizeof(cpu_set_t), reinterpret_cast<const cpu_set_t*>(bytes)};
  }
#endif
  return {bytes, cpus};
}

}  // namespace
}  // namespace memagent::capture

using namespace memagent::capture;  // NOLINT: the hooks below are C functions

MEMAGENT_HOOK int sched_setaffinity(pid_t tid, size_t bytes, const cpu_set_t* cpus) {
  if (EarlySymbol(real.sched_setaffinity, "sched_setaffinity") == nullptr) return -1;
  const CpuMask mask = MaskOf(bytes, cpus);
  const int result = real.sched_setaffinity(tid, mask.bytes, mask.cpus);
  RecordAffinity(tid, mask.bytes, mask.cpus, result == 0 ? 0 : errno, MEMAGENT_CALLER());
  return result;
}

// Returns the error.
MEMAGENT_HOOK int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t* cpus) {
  if (EarlySymbol(real.pthread_setaffinity_np, "pthread_setaffinity_np") == nullptr) return ENOSYS;
  const CpuMask mask = MaskOf(bytes, cpus);
  const int error = real.pthread_setaffinity_np(thread, mask.bytes, mask.cpus);
  RecordPthreadAffinity(thread, mask.bytes, mask.cpus, error, MEMAGENT_CALLER());
  return error;
}
