// Rows P23, P25 to P27: fork while other threads hold whatever locks there are.
//
//   fork_busy threads N      four threads allocate; N children each allocate, start two threads and
//                            end by exit, _exit or exec in turn
//   fork_busy concurrent N   four threads fork N children each at the same time
//   fork_busy nested N       a child's child's child ..., N deep
//   fork_busy unwinding N    threads throw and walk their stacks; N children throw, too
//   fork_busy raw N          children that libc's fork does not know of: _Fork and the system call
#include <execinfo.h>
#include <sys/syscall.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "tests/programs/pitfalls/children.h"
#include "tests/programs/pitfalls/churn.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

constexpr int kStatus = 3;
constexpr int kBlocks = 500;

[[gnu::noinline]] void* alloc_in_child(size_t bytes) {
  return ground_truth::Kept<void>(malloc(bytes));
}
[[gnu::noinline]] void* alloc_in_childs_thread(size_t bytes) {
  return ground_truth::Kept<void>(calloc(1, bytes));
}

void* ThreadOfChild(void* argument) {
  churn::Repeat(alloc_in_childs_thread, kBlocks, 200);
  return argument;
}

// Returns whether two threads could be started, and joined with what they returned.
bool ThreadsWork() {
  pthread_t threads[2];
  char mark;
  for (pthread_t& thread : threads) {
    if (pthread_create(&thread, nullptr, ThreadOfChild, &mark) != 0) return false;
  }
  for (pthread_t thread : threads) {
    void* result = nullptr;
    if (pthread_join(thread, &result) != 0 || result != &mark) return false;
  }
  return true;
}

[[noreturn]] void Child(int number) {
  churn::Repeat(alloc_in_child, kBlocks, 100);
  if (!ThreadsWork()) _exit(9);
  if (number % 3 == 0) exit(kStatus);
  if (number % 3 == 1) _exit(kStatus);
  execl("/bin/sh", "sh", "-c", "exit 3", nullptr);
  _exit(8);
}

int ForkOne(int number) {
  const pid_t pid = fork();
  if (pid == 0) Child(number);
  return children::StatusOf(pid);
}

// Returns how many of the children did not end as they should.
int Threads(int count) {
  churn::StartForEver(4);
  int bad = 0;
  for (int i = 0; i < count; ++i) bad += ForkOne(i) != kStatus;
  return bad;
}

int Concurrent(int count) {
  struct Forker {
    pthread_t thread;
    int count;
    int bad;
  } forkers[4] = {};
  for (Forker& forker : forkers) {
    forker.count = count;
    pthread_create(
        &forker.thread, nullptr,
        [](void* argument) -> void* {
          auto* self = static_cast<Forker*>(argument);
          for (int i = 0; i < self->count; ++i) {
            churn::Churn(200);
            self->bad += ForkOne(i) != kStatus;
          }
          return nullptr;
        },
        &forker);
  }
  int bad = 0;
  for (Forker& forker : forkers) {
    pthread_join(forker.thread, nullptr);
    bad += forker.bad;
  }
  return bad;
}

int Nested(int depth) {
  churn::Repeat(alloc_in_child, kBlocks, 100);
  if (depth == 0) return kStatus;
  return children::Run([depth] { return ThreadsWork() ? Nested(depth - 1) : 9; });
}

// How many frames the walk found; 0 when the exception did not arrive.
[[gnu::noinline]] int Unwind(int depth) {
  if (depth > 0) {
    int below = Unwind(depth - 1);
    ground_truth::Escape(below);  // keeps this frame
    return below;
  }
  void* frames[64];
  const int found = backtrace(frames, 64);
  try {
    throw std::runtime_error("walked");
  } catch (const std::exception& error) {
    return strcmp(error.what(), "walked") == 0 ? found : 0;
  }
}

int Unwinding(int count) {
  Unwind(1);  // backtrace() loads libgcc_s at its first call
  for (int i = 0; i < 3; ++i) {
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          while (true) Unwind(10);
        },
        nullptr);
  }
  int bad = 0;
  for (int i = 0; i < count; ++i) {
    bad += children::Run([] {
             churn::Repeat(alloc_in_child, kBlocks, 100);
             return Unwind(10) > 5 && ThreadsWork() ? kStatus : 1;
           }) != kStatus;
  }
  return bad;
}

int Raw(int count) {
  int bad = 0;
  for (int i = 0; i < count; ++i) {
    const pid_t pid = static_cast<pid_t>(i % 2 == 0 ? _Fork() : syscall(SYS_fork));
    if (pid == 0) {
      churn::Repeat(alloc_in_child, kBlocks, 100);
      _exit(kStatus);
    }
    bad += children::StatusOf(pid) != kStatus;
  }
  return bad;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 2 ? argv[1] : "";
  const int count = argc > 2 ? atoi(argv[2]) : 0;
  int bad = -1;
  if (what == "threads") bad = Threads(count);
  if (what == "concurrent") bad = Concurrent(count);
  if (what == "nested") bad = Nested(count) != kStatus;
  if (what == "unwinding") bad = Unwinding(count);
  if (what == "raw") bad = Raw(count);
  printf("%d children ended wrongly\n", bad);
  own_state::Print();
  fflush(stdout);
  _exit(0);
}
