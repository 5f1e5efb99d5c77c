// An allocator linked into the program that is not the malloc which libraries see: its blocks never
// reach a hook (pitfalls P54).
#ifndef MEMAGENT_AGENT_RUNTIME_LINKED_ALLOCATOR_H_
#define MEMAGENT_AGENT_RUNTIME_LINKED_ALLOCATOR_H_

#include "agent/runtime/event_log.h"

namespace memagent::runtime {

// Notes the event static_malloc when the executable's symbol table has one. A stripped program, or
// one whose names take more than 16 MiB, is not recognised. Calling thread: the drain thread.
void NoteLinkedAllocator(EventLog& log);

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_LINKED_ALLOCATOR_H_
