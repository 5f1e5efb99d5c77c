// Captures call stacks as the agent's hooks do, and compares them with glibc's backtrace() and with
// libunwind.
#ifndef MEMAGENT_TESTS_STACKS_COMPARISON_H_
#define MEMAGENT_TESTS_STACKS_COMPARISON_H_

#include "agent/capture/frame_start.h"

namespace memagent::stacks {

// Loads the oracles. Without this, or when it fails, Compare does nothing. Every capture is
// compared with backtrace(), every kLibunwindEvery-th of a thread with libunwind, which takes 600
// to 900 ns a frame, and every kNoCacheEvery-th with a capture that uses no cache.
bool StartComparing();
inline constexpr unsigned kLibunwindEvery = 8;
inline constexpr unsigned kNoCacheEvery = 32;

// The stack that begins at `start`, a live frame of the calling thread. errno is kept. Does nothing
// inside itself: oracles allocate.
void Compare(const capture::FrameStart& start);

// Code was unloaded: what the oracles remember of it is wrong.
void ForgetCode();

}  // namespace memagent::stacks

#endif  // MEMAGENT_TESTS_STACKS_COMPARISON_H_
