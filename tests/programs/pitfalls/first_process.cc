// Row P34: process 1 of a pid namespace, which the kernel protects from signals that it has no
// handler for. A handler of a tool's own would take that away.
//
//   first_process      needs root; prints what the child, which is process 1, saw
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

[[gnu::noinline]] void* alloc_in_first() { return ground_truth::Kept<void>(malloc(700)); }

[[noreturn]] void BeFirst() {
  for (int i = 0; i < 50; ++i) alloc_in_first();
  for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGPIPE}) {
    kill(getpid(), number);
    alloc_in_first();
  }
  // What is ignored interrupts nothing, either.
  const itimerval soon = {{0, 0}, {0, 10'000}};
  const timespec pause = {0, 50'000'000};
  setitimer(ITIMER_REAL, &soon, nullptr);
  printf("process %d lives, sleep %d\n", getpid(), nanosleep(&pause, nullptr));
  own_state::Print();
  exit(6);
}

}  // namespace

int main() {
  if (unshare(CLONE_NEWPID) != 0) {
    puts("no name space");
    return 1;
  }
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) BeFirst();
  int status = -1;
  waitpid(child, &status, 0);
  printf("child's status %x\n", status);
  return 0;
}
