// Programs whose run-time library must come first among the libraries: AddressSanitizer and its kin
// abort at the start behind a preloaded one (pitfalls P59). A child like that is run without the
// agent.
#ifndef MEMAGENT_AGENT_CAPTURE_SANITIZED_PROGRAM_H_
#define MEMAGENT_AGENT_CAPTURE_SANITIZED_PROGRAM_H_

#include <atomic>
#include <cstdint>

#include "agent/os/elf_file.h"

namespace memagent::capture {

// Whether an ELF file lists a shared sanitizer run-time as needed. Trusts nothing in the file;
// about 20 small reads.
bool NeedsSanitizerFirst(os::ByteSource& file);

// The same for a program as execve (`name` is a path) or execvp (searched on PATH) would find it.
// False for what can't be read. One descriptor with close-on-exec is open meanwhile. Calling
// thread: any, also in a vfork child; needs about 2 KiB of stack.
bool ProgramNeedsSanitizerFirst(const char* name, bool search_path);

// Whether a program was run without the agent for that reason, as far as this process's memory
// knows: a child made by fork notes it in its own.
extern constinit std::atomic<bool> programs_left_alone;

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_SANITIZED_PROGRAM_H_
