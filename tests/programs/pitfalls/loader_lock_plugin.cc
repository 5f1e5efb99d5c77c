// loader_lock's library: its constructor and its destructor start a thread and wait for it, both
// under the loader's lock, and its big thread-local array is made by the loader at first use (row
// P19).
#include <pthread.h>

#include <cstdlib>
#include <cstring>

#include "tests/programs/ground_truth.h"

namespace {

constexpr size_t kTlsBytes = 100000;

thread_local char own_array[kTlsBytes];

[[gnu::noinline]] void* alloc_plugin() { return ground_truth::Kept<void>(malloc(30)); }

void* UseArray(void*) {
  memset(own_array, 1, sizeof(own_array));
  free(alloc_plugin());
  return nullptr;
}

void RunThread() {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, UseArray, nullptr) != 0) abort();
  pthread_join(thread, nullptr);
}

[[gnu::constructor]] void Start() { RunThread(); }
[[gnu::destructor]] void End() { RunThread(); }

}  // namespace

extern "C" [[gnu::visibility("default")]] int PluginAnswer() {
  UseArray(nullptr);
  return 42;
}
