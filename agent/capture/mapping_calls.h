// What a call that mapped memory did, recorded: for the functions of libc and for syscall().
// Calling thread: any host thread, after the call.
#ifndef MEMAGENT_AGENT_CAPTURE_MAPPING_CALLS_H_
#define MEMAGENT_AGENT_CAPTURE_MAPPING_CALLS_H_

#include <cstddef>
#include <cstdint>

#include "agent/capture/frame_start.h"

namespace memagent::capture {

// `result` as mmap returned it, MAP_FAILED too.
void RecordMapped(void* result, size_t size, int flags, const FrameStart& caller);

// `before` is the time-stamp counter from before the call.
void RecordUnmapped(bool done, void* start, size_t size, uint64_t before);
void RecordRemapped(void* old_start, size_t old_size, void* result, size_t size, int flags,
                    uint64_t before, const FrameStart& caller);

// madvise, `given` when the kernel took it: advice about huge pages must not undo a placement rule.
void FollowAdvice(bool given, void* start, size_t size, int advice);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_MAPPING_CALLS_H_
