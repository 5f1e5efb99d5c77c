// The names in a folder, without libc's opendir (it allocates from the host's heap).
//
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_OS_FOLDER_H_
#define MEMAGENT_AGENT_OS_FOLDER_H_

#include "agent/base/containers.h"

namespace memagent::os {

// Without "." and "..", in ascending order. Empty when the folder can't be read.
base::Vector<base::String> ListFolder(const char* path);

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_FOLDER_H_
