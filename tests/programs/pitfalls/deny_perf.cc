// Rows P68, P69: a container's seccomp filter, then a program in it.
//
//   deny_perf ERRNO COMMAND...   perf_event_open fails with the number ERRNO; all else is allowed.
//                                ERRNO "kill": the process is killed for it.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "tests/programs/ground_truth.h"

[[gnu::noinline]] void* alloc_in_launcher() { return ground_truth::Kept<void>(malloc(2000)); }

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  alloc_in_launcher();
  const unsigned verdict = strcmp(argv[1], "kill") == 0
                               ? SECCOMP_RET_KILL_PROCESS
                               : SECCOMP_RET_ERRNO | static_cast<unsigned>(atoi(argv[1]));
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, verdict),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {std::size(filter), filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("deny_perf");
    return 99;
  }
  execvp(argv[2], argv + 2);
  perror(argv[2]);
  return 127;
}
