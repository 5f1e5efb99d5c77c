// Rows P68, P69: a container's seccomp filter, then a program in it.
//
//   deny_perf ERRNO COMMAND...   perf_event_open fails with the number ERRNO; all else is allowed.
//                                ERRNO "kill": the process is killed for it.
//   deny_perf CALL:ERRNO ...     the same of another call that perf events need: an ioctl (id,
//                                enable, redirect, period), "map" (any shared mapping that is
//                                writable) or "read" (any read of 64 bytes, as of an event's
//                                counts).
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/programs/ground_truth.h"
#include "tests/support/seccomp_filter.h"

[[gnu::noinline]] void* alloc_in_launcher() { return ground_truth::Kept<void>(malloc(2000)); }

namespace {

struct Denied {
  const char* name;
  unsigned call;
  unsigned argument;
  unsigned mask;  // of the argument, that must equal `value`
  unsigned value;
};
constexpr Denied kDenied[] = {
    {"id", SYS_ioctl, 1, 0xffff, PERF_EVENT_IOC_ID & 0xffff},
    {"enable", SYS_ioctl, 1, 0xffff, PERF_EVENT_IOC_ENABLE & 0xffff},
    {"redirect", SYS_ioctl, 1, 0xffff, PERF_EVENT_IOC_SET_OUTPUT & 0xffff},
    {"period", SYS_ioctl, 1, 0xffff, PERF_EVENT_IOC_PERIOD & 0xffff},
    {"map", SYS_mmap, 3, MAP_SHARED | MAP_PRIVATE, MAP_SHARED},
    {"read", SYS_read, 2, ~0u, 64},
};

std::vector<sock_filter> FilterOf(const Denied& denied, unsigned verdict) {
  const auto argument = static_cast<unsigned>(offsetof(seccomp_data, args) + 8 * denied.argument);
  return {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied.call, 0, 4),
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument),
          BPF_STMT(BPF_ALU | BPF_AND | BPF_K, denied.mask),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied.value, 0, 1),
          BPF_STMT(BPF_RET | BPF_K, verdict),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
}

std::vector<sock_filter> FilterOf(const char* text) {
  const char* const number = strchr(text, ':');
  const unsigned verdict = SECCOMP_RET_ERRNO | static_cast<unsigned>(atoi(number + 1));
  for (const Denied& denied : kDenied) {
    if (strncmp(denied.name, text, static_cast<size_t>(number - text)) == 0) {
      return FilterOf(denied, verdict);
    }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  alloc_in_launcher();
  const unsigned verdict = strcmp(argv[1], "kill") == 0
                               ? SECCOMP_RET_KILL_PROCESS
                               : SECCOMP_RET_ERRNO | static_cast<unsigned>(atoi(argv[1]));
  constexpr unsigned kCall[] = {SYS_perf_event_open};
  const bool other_call = strchr(argv[1], ':') != nullptr;
  if (seccomp_filter::Install(
          other_call ? FilterOf(argv[1])
                     : seccomp_filter::ForCalls(kCall, verdict, SECCOMP_RET_ALLOW)) != 0) {
    perror("deny_perf");
    return 99;
  }
  execvp(argv[2], argv + 2);
  perror(argv[2]);
  return 127;
}
