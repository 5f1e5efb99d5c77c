// Row P05: constructors, exit handlers and destructors that allocate, also inside libc's own lock.
//
// atexit allocates (calloc) under the lock of the handlers after the 32nd one: a hook that
// registers a handler of its own there waits for itself. Threads allocate until the process is
// gone.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/programs/ground_truth.h"

namespace {

constexpr int kHandlers = 200;

int handlers_run = 0;

[[gnu::noinline]] void* alloc_static() { return ground_truth::Kept<void>(malloc(100)); }
[[gnu::noinline]] void* alloc_handler() { return ground_truth::Kept<void>(malloc(200)); }
[[gnu::noinline]] void* alloc_destructor() { return ground_truth::Kept<void>(malloc(300)); }
[[gnu::noinline]] void* alloc_thread_local() { return ground_truth::Kept<void>(malloc(400)); }

struct Static {
  Static() : block(alloc_static()) {}
  ~Static() {
    free(block);
    free(alloc_destructor());
    printf("static destroyed after %d handlers\n", handlers_run);
  }
  Static(const Static&) = delete;
  Static& operator=(const Static&) = delete;
  void* block;
};

Static object;

// Destroyed by the thread's end, or main's by exit.
struct PerThread {
  ~PerThread() { free(alloc_thread_local()); }
  std::string text = "long enough to be on the heap, not inside the string";
};

thread_local PerThread per_thread;

void Handler() {
  ++handlers_run;
  free(alloc_handler());
}

void* Hammer(void*) {
  for (;;) free(malloc(per_thread.text.size()));
}

void* UsePerThread(void*) { return per_thread.text.empty() ? nullptr : &handlers_run; }

[[gnu::destructor]] void Last() {
  free(alloc_destructor());
  printf("destructor after %d handlers\n", handlers_run);
}

}  // namespace

int main() {
  for (int i = 0; i < kHandlers; ++i) atexit(Handler);
  static Static function_local;
  UsePerThread(nullptr);
  for (int i = 0; i < 10; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, UsePerThread, nullptr);
    pthread_join(thread, nullptr);
  }
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, Hammer, nullptr);
    pthread_detach(thread);
  }
  usleep(20000);
  return 6;
}
