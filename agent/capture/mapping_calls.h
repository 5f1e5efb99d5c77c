// The calls that map memory, made and recorded: for the functions of libc and for syscall().
#ifndef MEMAGENT_AGENT_CAPTURE_MAPPING_CALLS_H_
#define MEMAGENT_AGENT_CAPTURE_MAPPING_CALLS_H_

#include <sys/types.h>

#include <cstddef>

#include "agent/capture/frame_start.h"

namespace memagent::capture {

// As mmap, munmap and mremap: results and errno are the kernel's. Calling thread: any host thread.
void* Map(void* start, size_t size, int protection, int flags, int fd, off_t offset,
          const FrameStart& caller);
int Unmap(void* start, size_t size);
void* Remap(void* old_start, size_t old_size, size_t size, int flags, void* wanted,
            const FrameStart& caller);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_MAPPING_CALLS_H_
