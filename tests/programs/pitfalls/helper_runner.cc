// Rows P32 and P33: runs one command as programs run helpers, and allocates around it.
//
//   helper_runner FILE ARGUMENTS...       returns the command's status
#include <cstdio>

#include "tests/programs/pitfalls/children.h"
#include "tests/programs/pitfalls/churn.h"

namespace {

[[gnu::noinline]] void* alloc_around(size_t bytes) {
  return ground_truth::Kept<void>(malloc(bytes));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  churn::Repeat(alloc_around, 50, 32);
  const pid_t pid = fork();
  if (pid == 0) {
    execvp(argv[1], argv + 1);
    _exit(127);
  }
  const int status = children::StatusOf(pid);
  churn::Repeat(alloc_around, 50, 32);
  return status;
}
