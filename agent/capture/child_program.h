// Programs that a preloaded library of ours would harm: AddressSanitizer and its kin abort at the
// start behind one (pitfalls P59), and the loader of another word size complains on stderr (P32).
// Such a child is run without the agent.
#ifndef MEMAGENT_AGENT_CAPTURE_CHILD_PROGRAM_H_
#define MEMAGENT_AGENT_CAPTURE_CHILD_PROGRAM_H_

#include <atomic>
#include <cstdint>

#include "agent/os/elf_file.h"

namespace memagent::capture {

// Whether an ELF file is for another machine or word size, or lists a shared sanitizer run-time as
// needed. Trusts nothing in the file; about 50 small reads (/bin/true: 51). os::ElfFile would say
// it in fewer, but is the drain thread's: its containers are on the private heap.
bool CannotLoadUs(os::ByteSource& file);

// The same for a program as execve (`name` is a path) or execvp (searched on PATH) would find it.
// False for what can't be read. One descriptor with close-on-exec is open meanwhile. Calling
// thread: any, also in a vfork child; needs about 2 KiB of stack.
bool ProgramCannotLoadUs(const char* name, bool search_path);

// Whether a program was run without the agent for a reason of its own, as far as this process's
// memory knows: a child made by fork notes it in its own.
extern constinit std::atomic<bool> programs_left_alone;

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_CHILD_PROGRAM_H_
