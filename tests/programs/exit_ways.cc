// Works a little and ends in the way that the first argument names. Prints one line before.
//
//   exit_ways return|exit|_exit|quick_exit|abort|exec|pthread_exit|fault|NUMBER [SECONDS]
//
// NUMBER: that signal, sent to itself; fault: a write to address 0.
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tests/programs/ground_truth.h"

namespace {

constexpr size_t kCells = size_t{1} << 20;
constexpr int kStatus = 7;

[[gnu::noinline]] volatile uint64_t* alloc_work() {
  return ground_truth::Kept<uint64_t>(calloc(kCells, sizeof(uint64_t)));
}

[[gnu::noinline]] void Work(double seconds) {
  volatile uint64_t* cells = alloc_work();
  while (ground_truth::ThreadCpuSeconds() < seconds) {
    for (size_t i = 0; i < kCells; ++i) cells[i] = cells[i] + 1;
  }
}

[[gnu::noinline]] int End(std::string_view way) {
  if (way == "exit") exit(kStatus);
  if (way == "_exit") _exit(kStatus);
  if (way == "quick_exit") quick_exit(kStatus);
  if (way == "abort") abort();
  if (way == "exec") execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
  if (way == "pthread_exit") pthread_exit(nullptr);
  if (way == "fault") *ground_truth::Kept<volatile int>(nullptr) = 1;
  if (const int number = atoi(way.data()); number > 0) kill(getpid(), number);
  return kStatus;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: exit_ways WAY [SECONDS]\n");
    return 2;
  }
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  Work(ground_truth::SecondsArgument(argc, argv, 2, 0.3));
  printf("{\"way\": \"%s\", \"site\": \"alloc_work\"}\n", argv[1]);
  fflush(stdout);
  return End(argv[1]);
}
