// One line on the program's stderr, when the session may speak at all (MaySpeak in settings.h).
//
// The program never pays for it: descriptor 2 is written to only while it is still the file that it
// was at the start (a program may have closed it and opened its data there), only when the write
// can't block, and a reader that is gone or a limit on file sizes raises no signal.
//
// Calling thread: host threads; the signal mask is as before on return.
#ifndef MEMAGENT_AGENT_RUNTIME_HOST_MESSAGE_H_
#define MEMAGENT_AGENT_RUNTIME_HOST_MESSAGE_H_

#include <string_view>

namespace memagent::runtime {

// Called once, while descriptor 2 is still what the program was started with.
void RememberStderr();

// Writes "memagent: " and the first 1,024 bytes of `text`, or nothing.
void SayOnStderr(std::string_view text);

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_HOST_MESSAGE_H_
