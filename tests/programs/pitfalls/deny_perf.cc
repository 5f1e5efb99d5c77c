// Rows P68, P69: a container's seccomp filter, then a program in it.
//
//   deny_perf ERRNO COMMAND...   perf_event_open fails with the number ERRNO; all else is allowed.
//                                ERRNO "kill": the process is killed for it.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/programs/ground_truth.h"
#include "tests/support/seccomp_filter.h"

[[gnu::noinline]] void* alloc_in_launcher() { return ground_truth::Kept<void>(malloc(2000)); }

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  alloc_in_launcher();
  const unsigned verdict = strcmp(argv[1], "kill") == 0
                               ? SECCOMP_RET_KILL_PROCESS
                               : SECCOMP_RET_ERRNO | static_cast<unsigned>(atoi(argv[1]));
  constexpr unsigned kCall[] = {SYS_perf_event_open};
  if (seccomp_filter::Install(seccomp_filter::ForCalls(kCall, verdict, SECCOMP_RET_ALLOW)) != 0) {
    perror("deny_perf");
    return 99;
  }
  execvp(argv[2], argv + 2);
  perror(argv[2]);
  return 127;
}
