// Row P24: fork handlers that another library registered before the profiler could, and that
// allocate, start a thread and free what the parent's handler allocated.
//
//   fork_handlers      forks 10 children
#include <cstdio>

#include "tests/programs/pitfalls/children.h"
#include "tests/programs/pitfalls/churn.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

constexpr int kStatus = 2;
void* carried = nullptr;

[[gnu::noinline]] void* alloc_before_fork(size_t bytes) {
  return ground_truth::Kept<void>(malloc(bytes));
}
[[gnu::noinline]] void* alloc_in_handler(size_t bytes) {
  return ground_truth::Kept<void>(calloc(1, bytes));
}
[[gnu::noinline]] void* alloc_in_handlers_thread(size_t bytes) {
  return ground_truth::Kept<void>(aligned_alloc(64, bytes));
}
[[gnu::noinline]] void* alloc_in_child(size_t bytes) {
  return ground_truth::Kept<void>(realloc(nullptr, bytes));
}

volatile bool stop = false;
volatile int rounds = 0;
pthread_t worker;

void Prepare() { carried = alloc_before_fork(1000); }
void Parent() { free(carried); }

// What a library does that restarts its own background thread in a child.
void Child() {
  free(carried);
  churn::Repeat(alloc_in_handler, 100, 50);
  pthread_create(
      &worker, nullptr,
      [](void*) -> void* {
        while (!stop || rounds < 100) {
          free(alloc_in_handlers_thread(128));
          rounds = rounds + 1;
        }
        return nullptr;
      },
      nullptr);
}

void Register(int, char**, char**) { pthread_atfork(Prepare, Parent, Child); }

// Runs before the constructors of every library.
[[gnu::section(".preinit_array"), gnu::used]] void (*const register_early)(int, char**,
                                                                           char**) = Register;

int InChild() {
  churn::Repeat(alloc_in_child, 5000, 64);
  stop = true;
  pthread_join(worker, nullptr);
  return kStatus;
}

}  // namespace

int main() {
  churn::StartForEver(2);
  int bad = 0;
  for (int i = 0; i < 10; ++i) bad += children::Run(InChild) != kStatus;
  printf("%d children ended wrongly\n", bad);
  own_state::Print();
  fflush(stdout);
  _exit(0);
}
