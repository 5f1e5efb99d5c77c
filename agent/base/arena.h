// Memory that never comes from the host's heap.
//
// Arena: a bump allocator over anonymous mappings. Any thread may call Allocate; it takes no lock
// (one fetch_add; a new mapping is made by whoever runs over the end). Nothing is ever returned to
// the kernel. After fork the child keeps using it: state is one atomic pointer.
#ifndef MEMAGENT_AGENT_BASE_ARENA_H_
#define MEMAGENT_AGENT_BASE_ARENA_H_

#include <cstddef>

#include "agent/base/held_memory.h"

namespace memagent::base {

// Maps `size` bytes of zeroed, private, unreserved memory by raw system call; nullptr on failure.
// errno is untouched. Calling thread: any.
void* MapPages(size_t size, MemoryUse use);

// Unmaps what MapPages gave. Calling thread: any.
void UnmapPages(void* start, size_t size, MemoryUse use);

// `size` zeroed bytes aligned to `alignment` (a power of two <= 4096); nullptr when the kernel
// refuses memory. Never freed. Calling thread: any, also inside a hook.
void* ArenaAllocate(size_t size, size_t alignment = 16);

}  // namespace memagent::base

#endif  // MEMAGENT_AGENT_BASE_ARENA_H_
