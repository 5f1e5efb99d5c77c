// Shared by the hook files. A hook is the exported function that the program calls instead of libc's;
// it passes through exactly (same pointers, sizes, alignment, errno) and records.
#ifndef MEMAGENT_AGENT_CAPTURE_HOOKS_H_
#define MEMAGENT_AGENT_CAPTURE_HOOKS_H_

#include "agent/capture/frame_start.h"
#include "agent/capture/real_symbols.h"
#include "agent/capture/recorder.h"

// Exported although the agent is built with hidden visibility; exports.map lists each of them.
#define MEMAGENT_HOOK extern "C" [[gnu::visibility("default")]]

#endif  // MEMAGENT_AGENT_CAPTURE_HOOKS_H_
