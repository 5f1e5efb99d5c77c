#include "agent/os/self_memory.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/base/syscall.h"

namespace memagent::os {
namespace {

constexpr uint64_t kPageBytes = 4096;  // the smallest page of x86-64 and AArch64

// The kernel transfers whole iovecs or stops at a faulting one, so that one remote iovec for each
// page gives the readable prefix.
constexpr size_t kPagesPerCall = 16;

// Bytes read, or a negative errno when nothing was.
long ReadPages(uint64_t address, std::span<std::byte> out) {
  iovec remote[kPagesPerCall];
  size_t pages = 0;
  size_t size = 0;
  while (pages < kPagesPerCall && size < out.size()) {
    const uint64_t from = address + size;
    const size_t piece = std::min<size_t>(kPageBytes - from % kPageBytes, out.size() - size);
    remote[pages++] = {reinterpret_cast<void*>(from), piece};
    size += piece;
  }
  const iovec local = {out.data(), size};
  const long pid = base::Syscall(SYS_getpid);
  return base::Syscall(SYS_process_vm_readv, pid, &local, 1, remote, pages, 0);
}

bool IsRefusal(long result) { return result == -ENOSYS || result == -EPERM || result == -EACCES; }

}  // namespace

size_t ReadSelf(uint64_t address, std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size()) {
    const long result = ReadPages(address + done, out.subspan(done));
    if (IsRefusal(result)) return done + ReadSelfThroughProc(address + done, out.subspan(done));
    if (result <= 0) break;
    done += static_cast<size_t>(result);
  }
  return done;
}

size_t ReadSelfThroughProc(uint64_t address, std::span<std::byte> out) {
  // Opened for each read: a descriptor kept open could be closed or replaced by the host.
  const long fd = base::Syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/mem", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  size_t done = 0;
  while (done < out.size()) {
    const uint64_t from = address + done;
    const size_t piece = std::min<size_t>(kPageBytes - from % kPageBytes, out.size() - done);
    const long result = base::Syscall(SYS_pread64, fd, out.data() + done, piece, from);
    if (result <= 0) break;
    done += static_cast<size_t>(result);
  }
  base::Syscall(SYS_close, fd);
  return done;
}

}  // namespace memagent::os
