// Waiting for children, with the outcome in a form that two runs share.
#ifndef MEMAGENT_TESTS_PROGRAMS_PITFALLS_CHILDREN_H_
#define MEMAGENT_TESTS_PROGRAMS_PITFALLS_CHILDREN_H_

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

namespace children {

// Waits for the child; its exit status, or 1000 + signal, or -errno.
inline int StatusOf(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -errno;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// Forks a child that runs `work` and ends with what it returns by _exit; waits for it.
template <typename Work>
int Run(Work work) {
  const pid_t pid = fork();
  if (pid == 0) _exit(work());
  return StatusOf(pid);
}

}  // namespace children

#endif  // MEMAGENT_TESTS_PROGRAMS_PITFALLS_CHILDREN_H_
