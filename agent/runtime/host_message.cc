#include "agent/runtime/host_message.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include <cstdint>
#include <cstring>

#include "agent/base/syscall.h"

namespace memagent::runtime {
namespace {

using base::Syscall;

constexpr int kStderr = 2;

struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

constinit FileIdentity stderr_at_start;

constexpr uint64_t Bit(int number) { return uint64_t{1} << (number - 1); }
constexpr uint64_t kWriteSignals = Bit(SIGPIPE) | Bit(SIGXFSZ) | Bit(SIGTTOU);

FileIdentity StderrNow() {
  struct stat facts = {};
  if (Syscall(SYS_fstat, kStderr, &facts) != 0) return {};
  return {facts.st_dev, facts.st_ino};
}

bool MayWrite() {
  const FileIdentity now = StderrNow();
  if (now == FileIdentity{} || now != stderr_at_start) return false;
  pollfd wanted = {kStderr, POLLOUT, 0};
  const timespec none = {};
  return Syscall(SYS_ppoll, &wanted, 1, &none, nullptr, 0) == 1 && (wanted.revents & POLLOUT) != 0;
}

// Keeps the signals that a write can raise from the calling thread: a reader that is gone, a limit
// on file sizes, a terminal that stops background jobs. What the write itself made pending is taken
// back.
class WriteSignalsHeld {
 public:
  WriteSignalsHeld() {
    Syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kWriteSignals, &mask_, sizeof(mask_));
    pending_ = Pending();
  }
  ~WriteSignalsHeld() {
    const timespec none = {};
    for (const uint64_t raised = Pending() & ~pending_; (raised & Pending()) != 0;) {
      if (Syscall(SYS_rt_sigtimedwait, &raised, nullptr, &none, sizeof(raised)) < 0) break;
    }
    Syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask_, nullptr, sizeof(mask_));
  }
  WriteSignalsHeld(const WriteSignalsHeld&) = delete;
  WriteSignalsHeld& operator=(const WriteSignalsHeld&) = delete;

 private:
  static uint64_t Pending() {
    uint64_t set = 0;
    Syscall(SYS_rt_sigpending, &set, sizeof(set));
    return set & kWriteSignals;
  }

  uint64_t mask_ = 0;  // the kernel's sigset_t: 64 signals
  uint64_t pending_ = 0;
};

}  // namespace

void RememberStderr() { stderr_at_start = StderrNow(); }

void SayOnStderr(std::string_view text) {
  if (!MayWrite()) return;
  char line[1100];
  size_t length = 0;
  for (std::string_view part :
       {std::string_view("memagent: "), text.substr(0, 1024), std::string_view("\n")}) {
    memcpy(line + length, part.data(), part.size());
    length += part.size();
  }
  const WriteSignalsHeld held;
  Syscall(SYS_write, kStderr, line, length);
}

}  // namespace memagent::runtime
