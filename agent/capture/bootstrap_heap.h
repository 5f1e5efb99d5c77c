// Memory for allocations made while the real allocator is being looked for (pitfalls P01). Blocks are
// never reused; free and realloc recognise them for ever (P02). Calling thread: any; lock-free.
#ifndef MEMAGENT_AGENT_CAPTURE_BOOTSTRAP_HEAP_H_
#define MEMAGENT_AGENT_CAPTURE_BOOTSTRAP_HEAP_H_

#include <cstddef>
#include <cstdint>

namespace memagent::capture {

// Zeroed memory; nullptr when the 64 KiB are used up.
void* BootstrapAllocate(size_t size, size_t alignment);
bool IsBootstrapBlock(const void* block);
size_t BootstrapBlockSize(const void* block);
uint64_t BootstrapAllocationCount();

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_BOOTSTRAP_HEAP_H_
