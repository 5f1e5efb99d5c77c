// Row P92: the program shuts itself in after its start, and kills (or notices) every system call
// that it does not make itself: those that a tool in the process would make.
//
//   sandboxes kill      for all threads, by prctl before there is a second one
//   sandboxes thread    one thread only, while others go on
//   sandboxes sync      one thread for all others
//   sandboxes trap      unexpected calls are counted instead
//   sandboxes refused   the filter is not accepted
//   sandboxes strict    SECCOMP_MODE_STRICT: read, write and exit
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/programs/ground_truth.h"
#include "tests/support/seccomp_filter.h"

namespace {

volatile sig_atomic_t trapped = 0;

[[gnu::noinline]] void* alloc_before_sandbox() { return ground_truth::Kept<void>(malloc(900)); }
[[gnu::noinline]] void* alloc_in_sandbox() { return ground_truth::Kept<void>(malloc(90)); }

void Use(int count) {
  for (int i = 0; i < count; ++i) free(alloc_in_sandbox());
}

// What profilers use and this program does not.
constexpr unsigned kForeign[] = {SYS_perf_event_open, SYS_openat,       SYS_open,
                                 SYS_ioctl,           SYS_gettid,       SYS_process_vm_readv,
                                 SYS_ftruncate,       SYS_renameat2,    SYS_rename,
                                 SYS_unlinkat,        SYS_readlinkat,   SYS_readlink,
                                 SYS_move_pages,      SYS_memfd_create, SYS_pread64,
                                 SYS_prlimit64,       SYS_sendmsg,      SYS_socket,
                                 SYS_nanosleep,       SYS_close_range,  SYS_timer_create,
                                 SYS_setitimer,       SYS_tgkill,       SYS_ppoll,
                                 SYS_getppid,         SYS_getpid,       SYS_get_mempolicy,
                                 SYS_fchmod,          SYS_fchown,       SYS_uname,
                                 SYS_shmctl};

int Shut(unsigned verdict, unsigned flags, bool by_prctl) {
  return seccomp_filter::Install(seccomp_filter::ForCalls(kForeign, verdict, SECCOMP_RET_ALLOW),
                                 by_prctl, flags);
}

// All that a sandboxed program still does: threads, children, memory from the kernel, name spaces.
void Live() {
  if (unshare(0) != 0) abort();
  Use(10000);
  std::thread([] { Use(1000); }).join();
  free(ground_truth::Kept<void>(malloc(size_t{8} << 20)));
  const pid_t child = fork();
  if (child == 0) {
    Use(1000);
    _exit(6);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %x\n", status);
}

int ShutThread(bool sync) {
  std::thread inside([sync] {
    printf("filter %d\n",
           Shut(SECCOMP_RET_KILL_PROCESS, sync ? SECCOMP_FILTER_FLAG_TSYNC : 0, !sync));
    Use(5000);
  });
  std::thread beside([] { Use(50000); });
  inside.join();
  beside.join();
  Live();
  return 5;
}

int Trap() {
  struct sigaction action = {};
  action.sa_handler = [](int) { trapped = trapped + 1; };
  sigaction(SIGSYS, &action, nullptr);
  printf("filter %d\n", Shut(SECCOMP_RET_TRAP, 0, true));
  Live();
  printf("%d unexpected calls\n", static_cast<int>(trapped));
  return 5;
}

int Refused() {
  const int result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr, 0, 0);
  printf("filter %d, errno %d\n", result, errno);
  Live();
  return 5;
}

[[noreturn]] void Strict() {
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0) _exit(9);
  Use(1000);
  if (write(1, "strict\n", 7) != 7) syscall(SYS_exit, 8);
  while (true) syscall(SYS_exit, 5);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  for (int i = 0; i < 100; ++i) alloc_before_sandbox();
  free(alloc_in_sandbox());
  if (what == "thread" || what == "sync") return ShutThread(what == "sync");
  if (what == "trap") return Trap();
  if (what == "refused") return Refused();
  if (what == "strict") Strict();
  printf("filter %d\n", Shut(SECCOMP_RET_KILL_PROCESS, 0, true));
  Live();
  return 5;
}
