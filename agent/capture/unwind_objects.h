// Which loaded object holds a code address, and where its unwind information is.
//
// glibc >= 2.35 answers without a lock (_dl_find_object). On an older glibc a snapshot of the
// loaded objects answers; what was loaded since the snapshot is unknown, so its frames are
// counted as uncovered rather than guessed.
#ifndef MEMAGENT_AGENT_CAPTURE_UNWIND_OBJECTS_H_
#define MEMAGENT_AGENT_CAPTURE_UNWIND_OBJECTS_H_

#include <cstdint>
#include <optional>

#include "agent/capture/unwind_reader.h"

namespace memagent::capture {

// A loaded ELF object: its mapping and its .eh_frame_hdr (0 when it has none).
struct CodeObject {
  uintptr_t start = 0;
  uintptr_t end = 0;
  uintptr_t eh_frame_header = 0;
};

// Calling thread: any, also inside a hook. Takes no lock.
std::optional<CodeObject> FindCodeObject(uintptr_t ip);

// The readable bytes around `address` in `object`: the loaded segment that holds it.
MemoryView SegmentOf(const CodeObject& object, uintptr_t address);

// Takes the snapshot for older glibc. Calls dl_iterate_phdr, which takes the loader's lock: at
// session start and after a library was loaded, never inside a hook. One caller at a time.
void TakeObjectSnapshot();
std::optional<CodeObject> FindInSnapshot(uintptr_t ip);

// A number for the build id of the object that `ip` lies in, for telling one library from another
// that was loaded in its place: 1 .. kUnknownCode - 1, or kUnknownCode where there is no build id.
// Reads loaded headers only. Calling thread: any, also in a hook.
uint32_t CodeIdentity(uintptr_t ip);
inline constexpr uint32_t kUnknownCode = (uint32_t{1} << 14) - 1;

// The same of a build id's bytes.
uint32_t IdentityOfBuildId(std::span<const uint8_t> build_id);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_UNWIND_OBJECTS_H_
