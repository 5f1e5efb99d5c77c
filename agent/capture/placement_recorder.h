// Calls of the program that say where memory or threads shall be, recorded for the drain thread:
// for syscall(), by which libnuma makes them, and for libc's functions.
//
// Calling thread: any host thread, after the call. Nothing here blocks, allocates or touches errno.
// What the program's memory holds is only read where the kernel has just read it: after a granted
// call.
#ifndef MEMAGENT_AGENT_CAPTURE_PLACEMENT_RECORDER_H_
#define MEMAGENT_AGENT_CAPTURE_PLACEMENT_RECORDER_H_

#include <cstddef>
#include <cstdint>

#include "agent/capture/frame_start.h"

namespace memagent::capture {

// Whether a system call is one of these.
bool IsPlacementCall(long number);

// `arguments` are the kernel's six. `result` is negative for a call that was refused with `error`.
void RecordPlacementCall(long number, const long (&arguments)[6], long result, int error,
                         const FrameStart& caller);

// sched_setaffinity of the thread `tid` (0: the caller) with a mask of so many bytes.
void RecordAffinity(int32_t tid, size_t bytes, const void* mask, int error,
                    const FrameStart& caller);
// pthread_setaffinity_np.
void RecordPthreadAffinity(uint64_t thread, size_t bytes, const void* mask, int error,
                           const FrameStart& caller);

// How many bytes of a CPU mask the kernel reads, whatever size it is said to have. Found out at the
// first call; a test may say so before.
void SetCpuMaskBytes(size_t bytes);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_PLACEMENT_RECORDER_H_
