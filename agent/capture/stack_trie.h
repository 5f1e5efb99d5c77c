// All call stacks of the process as one root-first trie: a stack is the id of its innermost frame.
//
//   id   parent  pc
//    1      0    _start+0x21
//    2      1    main+0x40          stack "main < _start"
//    3      2    work+0x12          stack "work < main < _start"
//
// 147,000 distinct stacks of a clang run are 1.43 million nodes here (23 MB) instead of 7.4 million
// frames stored flat (59 MB). Nodes are never removed, but those of a library that was unloaded are
// retired: another library in its place gets nodes of its own, the same one gets them back. Any
// thread may add or read; no locks. A thread killed or lost by fork while adding leaves at most one
// unreadable id.
#ifndef MEMAGENT_AGENT_CAPTURE_STACK_TRIE_H_
#define MEMAGENT_AGENT_CAPTURE_STACK_TRIE_H_

#include <cstdint>

#include "agent/base/types.h"

namespace memagent::capture {

// At most 32 MiB of nodes and 17 MiB of hash slots, mapped as they are needed.
inline constexpr uint32_t kMaxStackNodes = (uint32_t{1} << 21) - 1;

struct StackNode {
  StackId parent = StackId::kNone;
  uintptr_t pc = 0;  // return address; pc - 1 is inside the calling instruction
};

// The node of `pc` called from `parent`. When the table is full or there is no memory, returns
// `parent` (the stack loses its inner frames) and counts it. Calling thread: any, also in a hook.
StackId InternFrame(StackId parent, uintptr_t pc);

// The parent of the outermost known frame of a stack whose real callers are unknown. It is a
// marker, not a frame: ReadStackNode shows such a frame as outermost.
StackId CutRoot();

// False for kNone, for the marker, and for an id that is still being written.
bool ReadStackNode(StackId id, StackNode& node);

// Deeper than kMaxStackDepth, or the walk could not continue.
bool StackWasCut(StackId id);

// Retires the nodes of return addresses into [start, end), where the library with this CodeIdentity
// (unwind_objects.h) was. Calling thread: the drain thread.
void RetireFrames(uintptr_t start, uintptr_t end, uint32_t identity);

// Ids are 1..StackCount(), dense.
uint32_t StackCount();

// Frames that found no room so far.
uint64_t StackTrieFullCount();

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_STACK_TRIE_H_
