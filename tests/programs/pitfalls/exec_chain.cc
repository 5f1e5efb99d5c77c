// Rows P29 to P31: a process that replaces itself again and again, under load and with a signal
// pending, each time by another function of the exec family.
//
//   exec_chain IMAGES         image N allocates 100 * (N + 1) blocks of 64 bytes
//   exec_chain thread         a second thread executes the next image
//   exec_chain failing        30 images that can't be executed, and goes on
//
// The first argument of an image after the first is "image", then its number and that of the last.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "tests/programs/pitfalls/churn.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

constexpr char kSelf[] = "/proc/self/exe";

[[gnu::noinline]] void* alloc_in_image(size_t bytes) {
  return ground_truth::Kept<void>(malloc(bytes));
}

// Calls the function of the exec family that the image's number selects; returns when it failed.
void Execute(int way, char** arguments) {
  const char* a = arguments[0];
  const char* b = arguments[1];
  const char* c = arguments[2];
  const char* d = arguments[3];
  switch (way % 9) {
    case 0:
      execl(kSelf, a, b, c, d, nullptr);
      break;
    case 1:
      execlp(kSelf, a, b, c, d, nullptr);
      break;
    case 2:
      execle(kSelf, a, b, c, d, nullptr, environ);
      break;
    case 3:
      execv(kSelf, arguments);
      break;
    case 4:
      execvp(kSelf, arguments);
      break;
    case 5:
      execvpe(kSelf, arguments, environ);
      break;
    case 6:
      fexecve(open(kSelf, O_RDONLY | O_CLOEXEC), arguments, environ);
      break;
    case 7:
      execveat(AT_FDCWD, kSelf, arguments, environ, 0);
      break;
    case 8:
      syscall(SYS_execve, kSelf, arguments, environ);
      break;
  }
}

void ExecuteNext(char* name, int number, int last) {
  std::string image = "image", mine = std::to_string(number + 1), end = std::to_string(last);
  char* arguments[] = {name, image.data(), mine.data(), end.data(), nullptr};
  Execute(number, arguments);
}

// What the image before left for this one: SIGUSR1 blocked and pending, SIGUSR2 ignored.
void PrintInherited() {
  sigset_t pending;
  sigpending(&pending);
  printf("pending %d\n", sigismember(&pending, SIGUSR1));
  own_state::Print();
  fflush(stdout);
}

void LeaveSignals() {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  kill(getpid(), SIGUSR1);
  signal(SIGUSR2, SIG_IGN);
}

int Image(char* name, int number, int last) {
  printf("image %d of process %d\n", number, getpid());
  PrintInherited();
  LeaveSignals();  // before there are threads that would take them
  churn::StartForEver(2);
  churn::Repeat(alloc_in_image, 100 * (number + 1), 64);
  churn::Churn(20000);
  if (number < last) ExecuteNext(name, number, last);
  return number < last ? 1 : 9;
}

int FromThread(char* name) {
  churn::Repeat(alloc_in_image, 100, 64);
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void* argument) -> void* {
        churn::Repeat(alloc_in_image, 100, 64);
        ExecuteNext(static_cast<char*>(argument), 0, 1);
        return nullptr;
      },
      name);
  while (true) pause();
}

int Failing(char* name) {
  char* arguments[] = {name, nullptr};
  for (int i = 0; i < 10; ++i) {
    churn::Repeat(alloc_in_image, 10, 64);
    execv("/nonexistent/x", arguments);
    printf("%d", errno);
    execvp("nonexistent-program", arguments);
    printf(" %d", errno);
    execv("/etc/passwd", arguments);
    printf(" %d\n", errno);
  }
  own_state::Print();
  return 4;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "0";
  if (what == "image" && argc > 3) return Image(argv[0], atoi(argv[2]), atoi(argv[3]));
  if (what == "thread") return FromThread(argv[0]);
  if (what == "failing") return Failing(argv[0]);
  return Image(argv[0], 0, atoi(what.data()));
}
