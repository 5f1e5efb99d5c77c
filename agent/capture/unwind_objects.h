// The readable parts of a loaded object, and which build it is of.
#ifndef MEMAGENT_AGENT_CAPTURE_UNWIND_OBJECTS_H_
#define MEMAGENT_AGENT_CAPTURE_UNWIND_OBJECTS_H_

#include <cstdint>
#include <span>

#include "agent/base/placement_rule.h"
#include "agent/capture/unwind_reader.h"
#include "agent/os/code_objects.h"

namespace memagent::capture {

// The readable bytes around `address` in `object`: the loaded segment that holds it.
// Calling thread: any, also inside a hook. Takes no lock.
MemoryView SegmentOf(const os::CodeObject& object, uintptr_t address);

// A number for the build id of the object that `ip` lies in, for telling one library from another
// that was loaded in its place: 1 .. kUnknownCode - 1, or kUnknownCode where there is no build id.
// Reads loaded headers only. Calling thread: any, also in a hook.
uint32_t CodeIdentity(uintptr_t ip);
inline constexpr uint32_t kUnknownCode = (uint32_t{1} << 14) - 1;

// The module and the ELF address of the instruction at `ip`. The build id is borrowed from the module.
// Reads loaded headers only. Calling thread: any, also in a hook.
base::CodePlace PlaceOfCode(uintptr_t ip);

// CodeIdentity of a build id's bytes.
uint32_t IdentityOfBuildId(std::span<const uint8_t> build_id);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_UNWIND_OBJECTS_H_
