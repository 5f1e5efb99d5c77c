// Which loaded object holds a code address, and where its unwind information is.
//
// glibc >= 2.35 answers without a lock (_dl_find_object). Elsewhere a snapshot of the loaded
// objects answers; what was loaded since the snapshot is unknown, so its frames are counted as
// uncovered rather than guessed.
#ifndef MEMAGENT_AGENT_OS_CODE_OBJECTS_H_
#define MEMAGENT_AGENT_OS_CODE_OBJECTS_H_

#include <cstdint>
#include <optional>

namespace memagent::os {

// A loaded ELF object: its mapping, from its ELF header on, and its .eh_frame_hdr (0 when it has
// none).
struct CodeObject {
  uintptr_t start = 0;
  uintptr_t end = 0;
  uintptr_t eh_frame_header = 0;
};

// Calling thread: any, also inside a hook, and the drain thread. Takes no lock.
std::optional<CodeObject> FindCodeObject(uintptr_t ip);

// Looks for _dl_find_object, and takes the snapshot where there is none. A constructor calls it; a
// hook that runs earlier does so itself. One caller at a time, on a host thread.
void PrepareCodeObjects();

// Calls dl_iterate_phdr, which takes the loader's lock: never inside a hook. One caller at a time.
void TakeObjectSnapshot();
std::optional<CodeObject> FindInSnapshot(uintptr_t ip);

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_CODE_OBJECTS_H_
