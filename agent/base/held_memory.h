// What the agent's memory is for, and how much of it is really there: mappings are made large and
// filled slowly, so address space says little.
#ifndef MEMAGENT_AGENT_BASE_HELD_MEMORY_H_
#define MEMAGENT_AGENT_BASE_HELD_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace memagent::base {

enum class MemoryUse : uint8_t {
  kArena,    // small things, and small blocks of the drain thread's heap
  kIndex,    // which block is at an address
  kStacks,   // call stacks: nodes, and what threads remember of them
  kSites,    // counters
  kThreads,  // records and rings of threads
  kDrain,    // the drain thread's large blocks, decoder tables and stack
  kCount,
};
inline constexpr size_t kMemoryUses = static_cast<size_t>(MemoryUse::kCount);

struct HeldBytes {
  uint64_t mapped = 0;
  uint64_t resident = 0;  // at most: mappings that found no room in the list count as all there
};

// Called by MapPages and UnmapPages. Calling thread: any, also inside a hook: no lock.
void NoteMapped(void* start, size_t size, MemoryUse use);
void NoteUnmapped(void* start, size_t size, MemoryUse use);

size_t BytesMapped();

// Asks the kernel for each mapping (about 20 ns a page). Calling thread: the drain thread.
HeldBytes ReadHeld(MemoryUse use);

}  // namespace memagent::base

#endif  // MEMAGENT_AGENT_BASE_HELD_MEMORY_H_
