// Row P45: name spaces that only a process with one thread may enter, asked for in every way.
//
//   name_spaces      each try is made in a child of its own; prints what each came to
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "tests/programs/pitfalls/children.h"
#include "tests/programs/pitfalls/churn.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

[[gnu::noinline]] void* alloc_outside(size_t bytes) {
  return ground_truth::Kept<void>(malloc(bytes));
}
[[gnu::noinline]] void* alloc_inside(size_t bytes) {
  return ground_truth::Kept<void>(calloc(1, bytes));
}

int Function() { return unshare(CLONE_NEWUSER) == 0 ? 0 : errno; }

int SystemCall() { return syscall(SYS_unshare, CLONE_NEWUSER) == 0 ? 0 : errno; }

int WithOthers() { return unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) == 0 ? 0 : errno; }

int InAThread() {
  pthread_t thread;
  int result = 0;
  pthread_create(
      &thread, nullptr,
      [](void* out) -> void* {
        *static_cast<int*>(out) = unshare(CLONE_NEWUSER) == 0 ? 0 : errno;
        return nullptr;
      },
      &result);
  pthread_join(thread, nullptr);
  return result;
}

// The kernel may still count a thread that has been joined.
int AfterThreads() {
  for (int i = 0; i < 10; ++i) {
    pthread_t thread;
    pthread_create(
        &thread, nullptr, [](void* argument) { return argument; }, nullptr);
    pthread_join(thread, nullptr);
  }
  int error = EINVAL;
  for (int i = 0; i < 1000 && error == EINVAL; ++i) {
    error = unshare(CLONE_NEWUSER) == 0 ? 0 : errno;
    usleep(100);
  }
  return error;
}

int AfterForkInChild() {
  return children::Run([] {
    churn::Repeat(alloc_inside, 5, 30);
    return Function();
  });
}

int Twice() {
  const int first = Function();
  return first != 0 ? first : Function();
}

int OwnMountNamespace() {
  const int fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  return setns(fd, CLONE_NEWNS) == 0 ? 0 : errno;
}

int OwnUserNamespace() {
  const int fd = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
  return setns(fd, CLONE_NEWUSER) == 0 ? 0 : errno;
}

// Into the user name space of a child.
int ChildsNamespace() {
  int ready[2];
  if (pipe(ready) != 0) return errno;
  const pid_t child = fork();
  if (child == 0) {
    const int error = Function();
    if (write(ready[1], &error, sizeof(error)) < 0) _exit(1);
    while (true) pause();
  }
  int error = 0;
  if (read(ready[0], &error, sizeof(error)) > 0 && error == 0) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/ns/user", child);
    error = setns(open(path, O_RDONLY | O_CLOEXEC), CLONE_NEWUSER) == 0 ? 0 : errno;
  }
  kill(child, SIGKILL);
  children::StatusOf(child);
  return error;
}

void Try(const char* name, int (*enter)()) {
  const int error = children::Run([enter] {
    churn::Repeat(alloc_outside, 10, 30);
    const int result = enter();
    churn::Repeat(alloc_inside, 20, 30);
    return result;
  });
  printf("%s: %s\n", name, error == 0 ? "entered" : strerror(error));
  fflush(stdout);
}

}  // namespace

int main() {
  Try("unshare", Function);
  Try("the system call", SystemCall);
  Try("with other name spaces", WithOthers);
  Try("in a thread", InAThread);
  Try("after threads", AfterThreads);
  Try("in a child", AfterForkInChild);
  Try("twice", Twice);
  Try("own mount name space", OwnMountNamespace);
  Try("own user name space", OwnUserNamespace);
  Try("a child's name space", ChildsNamespace);
  own_state::Print();
  return 0;
}
