// What a program can see of itself and a profiler could change: printed by a pitfall program at its
// end, so that the plain run and the measured one are compared on it.
#ifndef MEMAGENT_TESTS_PROGRAMS_PITFALLS_OWN_STATE_H_
#define MEMAGENT_TESTS_PROGRAMS_PITFALLS_OWN_STATE_H_

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace own_state {

// Every open descriptor: number, kind of file, close-on-exec. The one that lists them is left out.
inline void PrintDescriptors() {
  std::vector<int> numbers;
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    const int number = atoi(entry->d_name);
    if (entry->d_name[0] != '.' && number != dirfd(folder)) numbers.push_back(number);
  }
  closedir(folder);
  std::sort(numbers.begin(), numbers.end());
  for (const int number : numbers) {
    struct stat about = {};
    if (fstat(number, &about) != 0) continue;
    printf("descriptor %d: type %o, flags %d\n", number, about.st_mode & S_IFMT,
           fcntl(number, F_GETFD));
  }
}

// Linux's SA_RESTORER: the kernel shows it wherever libc has once set the action, as system() does
// when it puts the default back.
constexpr int kRestorer = 0x04000000;

// Disposition, flags and mask of every signal, the thread's mask and its alternate stack.
inline void PrintSignals() {
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, nullptr, &blocked);
  for (int number = 1; number <= SIGRTMAX; ++number) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) != 0) continue;
    action.sa_flags &= ~kRestorer;
    const bool plain = action.sa_handler == SIG_DFL && action.sa_flags == 0;
    if (plain && sigismember(&blocked, number) == 0) continue;
    printf("signal %d: %s, flags %x, blocked %d\n", number,
           action.sa_handler == SIG_DFL   ? "default"
           : action.sa_handler == SIG_IGN ? "ignored"
                                          : "handled",
           static_cast<unsigned>(action.sa_flags), sigismember(&blocked, number));
  }
  stack_t stack = {};
  sigaltstack(nullptr, &stack);
  printf("alternate stack: flags %d, %zu bytes\n", stack.ss_flags, stack.ss_size);
}

inline void Print() {
  PrintDescriptors();
  PrintSignals();
}

}  // namespace own_state

#endif  // MEMAGENT_TESTS_PROGRAMS_PITFALLS_OWN_STATE_H_
