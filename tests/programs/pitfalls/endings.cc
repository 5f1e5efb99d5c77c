// Rows P34 to P39: every way to end, right after 1,000 allocations of 48 bytes. What is written
// with puts() and not flushed is for stdio to write, or to lose.
//
//   endings WAY [threads]     WAY is a key of kWays; with "threads" others are inside malloc
//   meanwhile
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "tests/programs/pitfalls/churn.h"
#include "tests/programs/pitfalls/own_state.h"

// Row P37: at an end nobody may free what libc still needs. Stands before libc's own.
extern "C" [[gnu::visibility("default")]] void __libc_freeres() { puts("__libc_freeres called"); }

namespace {

constexpr int kStatus = 7;

[[gnu::noinline]] void* alloc_before_end(size_t bytes) {
  return ground_truth::Kept<void>(malloc(bytes));
}
[[gnu::noinline]] void* alloc_in_handler(size_t bytes) {
  return ground_truth::Kept<void>(calloc(1, bytes));
}
[[gnu::noinline]] void* alloc_in_destructor(size_t bytes) {
  return ground_truth::Kept<void>(aligned_alloc(32, bytes));
}
[[gnu::noinline]] void* alloc_in_last_thread(size_t bytes) {
  return ground_truth::Kept<void>(realloc(nullptr, bytes));
}

void Handler() { churn::Repeat(alloc_in_handler, 200, 24); }

struct Static {
  std::vector<int> numbers = {1, 2, 3};
  ~Static() { churn::Repeat(alloc_in_destructor, 300, 64); }
} with_destructor;

[[noreturn]] void Raise(int signal) {
  // In a thread that doesn't block it; the process ends before raise() returns.
  kill(getpid(), signal);
  while (true) pause();
}

[[noreturn]] void Crash() {
  *static_cast<volatile int*>(ground_truth::Kept<void>(nullptr)) = 1;
  __builtin_trap();
}

[[noreturn]] void ExitByInstruction() {
  long result = SYS_exit_group;
  asm volatile("syscall" : "+a"(result) : "D"(long{kStatus}) : "rcx", "r11", "memory");
  __builtin_trap();
}

// The main thread ends, another works on for a moment, allocates and ends.
[[noreturn]] void LeaveAThread() {
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        usleep(30000);
        churn::Repeat(alloc_in_last_thread, 400, 80);
        puts("last thread");
        return nullptr;
      },
      nullptr);
  pthread_exit(nullptr);
}

// Four threads call exit() at the same time; the first one's destructors run.
[[noreturn]] void ExitFromThreads() {
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    pthread_create(
        &thread, nullptr, [](void*) -> void* { exit(kStatus); }, nullptr);
  }
  while (true) pause();
}

[[noreturn]] void ExitFromHandler() {
  signal(SIGALRM, [](int) { _exit(kStatus); });
  ualarm(20000, 0);
  while (true) churn::Churn(100);
}

const struct {
  std::string_view name;
  void (*end)();
} kWays[] = {
    {"return", [] {}},
    {"exit", [] { exit(kStatus); }},
    {"_exit", [] { _exit(kStatus); }},
    {"_Exit", [] { _Exit(kStatus); }},
    {"quick_exit", [] { quick_exit(kStatus); }},
    {"exit_group", [] { syscall(SYS_exit_group, kStatus); }},
    {"instruction", [] { ExitByInstruction(); }},
    {"abort", [] { abort(); }},
    {"segv", [] { Crash(); }},
    {"trap", [] { __builtin_trap(); }},
    {"sigterm", [] { Raise(SIGTERM); }},
    {"sigint", [] { Raise(SIGINT); }},
    {"sighup", [] { Raise(SIGHUP); }},
    {"sigusr1", [] { Raise(SIGUSR1); }},
    {"sigkill", [] { Raise(SIGKILL); }},
    {"pthread_exit", [] { pthread_exit(nullptr); }},
    {"last_thread", [] { LeaveAThread(); }},
    {"threads_exit", [] { ExitFromThreads(); }},
    {"handler", [] { ExitFromHandler(); }},
};

void (*WayNamed(std::string_view name))() {
  for (const auto& way : kWays) {
    if (way.name == name) return way.end;
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  void (*const end)() = argc > 1 ? WayNamed(argv[1]) : nullptr;
  if (end == nullptr) return 2;
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  atexit(Handler);
  at_quick_exit(Handler);
  own_state::Print();
  fflush(stdout);
  const std::string_view how = argc > 2 ? argv[2] : "";
  if (how == "threads") churn::StartForEver(3);
  churn::Repeat(alloc_before_end, 1000, 48);
  puts("not flushed");
  if (how == "later") usleep(500000);
  end();
  return kStatus;
}
