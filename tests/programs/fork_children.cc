// A parent and N forked children, each working on an allocation of its own; the last child executes
// another program. Prints the pids.
//
//   fork_children [CHILDREN]    (default 3)
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <vector>

#include "tests/programs/ground_truth.h"

namespace {

constexpr size_t kCells = size_t{1} << 18;
constexpr double kSecondsEach = 0.2;

[[gnu::noinline]] volatile uint64_t* alloc_in_parent() {
  return ground_truth::Kept<uint64_t>(calloc(kCells, sizeof(uint64_t)));
}
[[gnu::noinline]] volatile uint64_t* alloc_in_child() {
  void* cells = calloc(kCells, sizeof(uint64_t));
  asm volatile(
      "nop");  // keeps it apart from alloc_in_parent, which would else be the same function
  return ground_truth::Kept<uint64_t>(cells);
}

void Work(volatile uint64_t* cells) {
  const double start = ground_truth::ThreadCpuSeconds();
  while (ground_truth::ThreadCpuSeconds() - start < kSecondsEach) {
    for (size_t i = 0; i < kCells; ++i) cells[i] = cells[i] + 1;
  }
}

[[noreturn]] void Child(bool executes) {
  Work(alloc_in_child());
  if (executes) execl("/bin/true", "true", nullptr);
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const int children = argc > 1 ? atoi(argv[1]) : 3;
  Work(alloc_in_parent());
  std::vector<pid_t> pids;
  for (int i = 0; i < children; ++i) {
    const pid_t pid = fork();
    if (pid < 0) abort();
    if (pid == 0) Child(i + 1 == children);
    pids.push_back(pid);
  }
  int failed = 0;
  for (pid_t pid : pids) {
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || status != 0) ++failed;
  }
  printf("{\"parent\": %d, \"failed\": %d, \"children\": [", getpid(), failed);
  for (size_t i = 0; i < pids.size(); ++i) printf("%s%d", i == 0 ? "" : ", ", pids[i]);
  printf("]}\n");
  return failed;
}
