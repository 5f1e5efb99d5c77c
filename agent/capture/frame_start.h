// Where a hook was called from: the start of a call-stack capture.
#ifndef MEMAGENT_AGENT_CAPTURE_FRAME_START_H_
#define MEMAGENT_AGENT_CAPTURE_FRAME_START_H_

#include "agent/capture/stack_capture.h"

namespace memagent::capture {

// A hook's own frame, as long as the hook has not returned. Our frames keep the frame pointer
// (cmake/Options.cmake): at it lie the caller's frame pointer and the return address.
struct HookFrame {
  const uintptr_t* base;
  FrameStart Caller() const { return {base[1], reinterpret_cast<uintptr_t>(base + 2), base[0]}; }
  operator FrameStart() const { return Caller(); }  // NOLINT: all but the hot path want this
};

}  // namespace memagent::capture

// The frame of the function this stands in. Where that ends by a jump, the function jumped to makes
// its own frame in the same place, of the same two words.
#define MEMAGENT_CALLER() \
  (memagent::capture::HookFrame{static_cast<const uintptr_t*>(__builtin_frame_address(0))})

#endif  // MEMAGENT_AGENT_CAPTURE_FRAME_START_H_
