// Row P10: stdio allocates its buffers while it holds a stream's lock, in several threads at once.
//
// A hook that uses stdio, even another stream, may wait for a lock whose holder waits in the hook.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

constexpr int kThreads = 3;
constexpr int kRounds = 2000;

[[gnu::noinline]] void* alloc_round() { return ground_truth::Kept<void>(malloc(40)); }

// Each round makes a stream, its buffer under its lock, and formats a number that needs the heap.
void* Print(void* name) {
  for (int i = 0; i < kRounds; ++i) {
    FILE* stream = fopen("/dev/null", "w");
    if (stream == nullptr) abort();
    flockfile(stdout);
    free(alloc_round());
    fprintf(stream, "%s %d %.3000f\n", static_cast<const char*>(name), i, i / 3.0);
    funlockfile(stdout);
    fclose(stream);
    if (i % 100 == 0) fflush(nullptr);  // takes every stream's lock
  }
  return nullptr;
}

}  // namespace

int main() {
  pthread_t threads[kThreads];
  static char name[] = "thread";
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, Print, name);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  puts("printed");
  own_state::Print();
  return 3;
}
