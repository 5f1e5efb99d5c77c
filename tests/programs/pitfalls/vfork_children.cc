// Row P28: children that share the parent's memory until they execute something or end.
//
//   vfork_children           vfork, clone, posix_spawn, system and popen; good paths and bad ones
#include <sched.h>
#include <spawn.h>

#include <cstdio>
#include <cstring>

#include "tests/programs/pitfalls/children.h"
#include "tests/programs/pitfalls/churn.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

constexpr int kEach = 5;
alignas(16) char clone_stack[65536];

[[gnu::noinline]] void* alloc_between(size_t bytes) {
  return ground_truth::Kept<void>(malloc(bytes));
}
[[gnu::noinline]] void* alloc_in_clone(size_t bytes) {
  return ground_truth::Kept<void>(calloc(1, bytes));
}

int VforkExit() {
  const pid_t pid = vfork();
  if (pid == 0) _exit(5);
  return children::StatusOf(pid);
}

int VforkExec() {
  const pid_t pid = vfork();
  if (pid == 0) {
    execl("/bin/sh", "sh", "-c", "exit 6", nullptr);
    _exit(1);
  }
  return children::StatusOf(pid);
}

int VforkBadPath() {
  const pid_t pid = vfork();
  if (pid == 0) {
    execl("/nonexistent", "x", nullptr);
    _exit(errno);
  }
  return children::StatusOf(pid);
}

int CloneSharing() {
  const pid_t pid = clone(
      [](void*) {
        free(alloc_in_clone(10));
        execl("/nonexistent", "x", nullptr);
        return 7;
      },
      clone_stack + sizeof(clone_stack), CLONE_VM | CLONE_VFORK | SIGCHLD, nullptr);
  return children::StatusOf(pid);
}

int Spawn(const char* path) {
  pid_t pid = 0;
  char name[] = "child";
  char* arguments[] = {name, nullptr};
  const int error = posix_spawnp(&pid, path, nullptr, nullptr, arguments, environ);
  return error != 0 ? -error : children::StatusOf(pid);
}

int Popen() {
  FILE* pipe = popen("echo said; exit 9", "r");
  char line[16] = {};
  if (pipe == nullptr || fgets(line, sizeof(line), pipe) == nullptr) return -1;
  return strcmp(line, "said\n") == 0 ? WEXITSTATUS(pclose(pipe)) : -2;
}

template <typename Way>
void Try(const char* name, Way way) {
  int statuses[kEach];
  for (int& status : statuses) {
    churn::Repeat(alloc_between, 100, 80);
    status = way();
  }
  printf("%s:", name);
  for (const int status : statuses) printf(" %d", status);
  printf("\n");
  fflush(stdout);
}

}  // namespace

int main() {
  churn::StartForEver(1);
  Try("vfork and _exit", VforkExit);
  Try("vfork and exec", VforkExec);
  Try("vfork and exec of nothing", VforkBadPath);
  Try("clone with shared memory", CloneSharing);
  Try("posix_spawn", [] { return Spawn("true"); });
  Try("posix_spawn of nothing", [] { return Spawn("/nonexistent"); });
  Try("system", [] { return WEXITSTATUS(system("exit 4")); });
  Try("popen", Popen);
  own_state::Print();
  return 0;
}
