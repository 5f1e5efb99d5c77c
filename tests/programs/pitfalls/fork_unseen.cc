// Row P23: children made by the system call itself, which no library sees, allocate while their
// parent is being sampled. Its rings are not mapped in them (agent/ledger/hook_clock.h).
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

long RawCall(long number, long argument) {
  long result = number;
  asm volatile("syscall" : "+a"(result) : "D"(argument) : "rcx", "r11", "memory");
  return result;
}

void Allocate(int pairs) {
  for (int i = 0; i < pairs; ++i) {
    void* volatile block = malloc(static_cast<size_t>(16 + i % 200));
    free(block);
  }
}

}  // namespace

int main() {
  int wrong = 0;
  for (int child = 0; child < 20; ++child) {
    Allocate(20000);
    const long pid = RawCall(SYS_fork, 0);
    if (pid == 0) {
      Allocate(20000);
      RawCall(SYS_exit_group, 7);
    }
    int status = 0;
    waitpid(static_cast<pid_t>(pid), &status, 0);
    wrong += !WIFEXITED(status) || WEXITSTATUS(status) != 7;
  }
  printf("%d children ended wrongly\n", wrong);
  return wrong;
}
