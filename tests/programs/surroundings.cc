// Things that programs do to their own process which a helper thread may upset.
//
//   surroundings raw_exit       the only thread ends by the exit system call, with status 7
//   surroundings prctl          a seccomp filter that kills for all but a few calls, for this
//   thread surroundings tsync          the same for all threads, through syscall() surroundings
//   credentials    gives up root; prints each thread's user and group ids
#include <dirent.h>
#include <grp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/programs/ground_truth.h"
#include "tests/support/seccomp_filter.h"

namespace {

[[gnu::noinline]] void* alloc_before() { return ground_truth::Kept<void>(malloc(1000)); }

// Kills for all but what malloc, stdio and an exit need.
int EnterSandbox(bool all_threads) {
  constexpr unsigned kNeeded[] = {SYS_read, SYS_write,  SYS_exit,       SYS_exit_group, SYS_brk,
                                  SYS_mmap, SYS_munmap, SYS_newfstatat, SYS_close};
  return seccomp_filter::Install(
      seccomp_filter::ForCalls(kNeeded, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS), !all_threads,
      all_threads ? SECCOMP_FILTER_FLAG_TSYNC : 0);
}

int Sandbox(bool all_threads) {
  void* block = alloc_before();
  const int result = EnterSandbox(all_threads);
  for (int i = 0; i < 1000000; ++i) free(ground_truth::Kept<void>(malloc(i % 500 + 1)));
  printf("filter %d, block %s\n", result, block != nullptr ? "kept" : "none");
  return 5;
}

void PrintIdsOf(const std::string& task) {
  FILE* file = fopen(("/proc/self/task/" + task + "/status").c_str(), "r");
  char line[256];
  while (file != nullptr && fgets(line, sizeof(line), file) != nullptr) {
    if (strncmp(line, "Uid:", 4) == 0 || strncmp(line, "Gid:", 4) == 0) fputs(line, stdout);
  }
  if (file != nullptr) fclose(file);
}

int GiveUpRoot() {
  constexpr unsigned kNobody = 65534;
  if (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
      setresuid(kNobody, kNobody, kNobody) != 0) {
    return 1;
  }
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* entry = tasks != nullptr ? readdir(tasks) : nullptr) {
    if (entry->d_name[0] != '.') PrintIdsOf(entry->d_name);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "raw_exit") syscall(SYS_exit, 7);
  if (what == "prctl" || what == "tsync") return Sandbox(what == "tsync");
  if (what == "credentials") return GiveUpRoot();
  fprintf(stderr, "usage: surroundings raw_exit|prctl|tsync|credentials\n");
  return 2;
}
