// Rows P22, P45: starts processes and threads at the very limit of processes, where the kernel counts
// every thread of the user. Gives up root first: root has no such limit.
//
//   process_limit      limit 2: itself and one more
#include <grp.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

constexpr unsigned kUser = 54321;  // nobody else's, so that only this process counts
constexpr int kRounds = 20;

[[gnu::noinline]] void* alloc_round() { return ground_truth::Kept<void>(malloc(100)); }

int Wait(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

int Fork() {
  const pid_t child = fork();
  if (child == 0) _exit(3);
  return child < 0 ? -errno : Wait(child);
}

int Spawn() {
  char name[] = "true";
  char* const arguments[] = {name, nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, environ);
  return error != 0 ? -error : Wait(child);
}

void* Nothing(void* argument) { return argument; }

int StartThread() {
  pthread_t thread;
  const int error = pthread_create(&thread, nullptr, Nothing, nullptr);
  return error != 0 ? -error : pthread_join(thread, nullptr);
}

}  // namespace

int main() {
  if (setgroups(0, nullptr) != 0 || setgid(kUser) != 0 || setuid(kUser) != 0) return 1;
  const rlimit limit = {2, 2};
  setrlimit(RLIMIT_NPROC, &limit);
  for (int round = 0; round < kRounds; ++round) {
    alloc_round();
    printf("fork %d, spawn %d, thread %d\n", Fork(), Spawn(), StartThread());
    fflush(stdout);
  }
  own_state::Print();
  return 4;
}
