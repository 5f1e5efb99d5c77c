// Row P59: AddressSanitizer refuses to start behind another preloaded library. Built twice: plain,
// and with the sanitizer.
//
//   sanitized                    status 5
//   sanitized run|spawn PROGRAM  runs PROGRAM as a child, prints its wait status
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/programs/ground_truth.h"

namespace {

[[gnu::noinline]] void* alloc_here() { return ground_truth::Kept<void>(malloc(100)); }

pid_t Start(std::string_view way, char* program) {
  char* const arguments[] = {program, nullptr};
  pid_t child = -1;
  if (way == "spawn") {
    posix_spawn(&child, program, nullptr, nullptr, arguments, environ);
  } else if ((child = vfork()) == 0) {
    execv(program, arguments);
    _exit(127);
  }
  return child;
}

}  // namespace

int main(int argc, char** argv) {
  free(alloc_here());
  if (argc < 3) return puts("in the program") >= 0 ? 5 : 1;
  int status = -1;
  waitpid(Start(argv[1], argv[2]), &status, 0);
  printf("child's status %d\n", status);
  return 0;
}
