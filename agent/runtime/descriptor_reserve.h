// Descriptor numbers kept free for writing the profile: RLIMIT_NOFILE bounds the drain thread's own
// table as well, and the events of many threads would fill it. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_DESCRIPTOR_RESERVE_H_
#define MEMAGENT_AGENT_RUNTIME_DESCRIPTOR_RESERVE_H_

#include <fcntl.h>

#include <array>

#include "agent/base/syscall.h"
#include "agent/os/file.h"

namespace memagent::runtime {

class DescriptorReserve {
 public:
  void Take() {
    for (os::UniqueFd& fd : reserved_) {
      if (!fd.valid()) fd = os::UniqueFd(base::Syscall(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC));
    }
  }
  void Release() {
    for (os::UniqueFd& fd : reserved_) fd.Reset();
  }

 private:
  // The profile, its rewritten copy, an ELF file or /proc file being read.
  std::array<os::UniqueFd, 3> reserved_;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_DESCRIPTOR_RESERVE_H_
