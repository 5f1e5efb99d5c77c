// Where a hook was called from: the start of a call-stack capture.
#ifndef MEMAGENT_AGENT_CAPTURE_FRAME_START_H_
#define MEMAGENT_AGENT_CAPTURE_FRAME_START_H_

#include "agent/capture/stack_capture.h"

// The FrameStart of the caller of the function this stands in. Our frames keep the frame pointer
// (cmake/Options.cmake): at it lie the caller's frame pointer and the return address.
#define MEMAGENT_CALLER()                                                            \
  (memagent::capture::FrameStart{                                                    \
      reinterpret_cast<uintptr_t>(__builtin_return_address(0)),                      \
      reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) + 2 * sizeof(void*),   \
      *reinterpret_cast<const uintptr_t*>(__builtin_frame_address(0))})

#endif  // MEMAGENT_AGENT_CAPTURE_FRAME_START_H_
