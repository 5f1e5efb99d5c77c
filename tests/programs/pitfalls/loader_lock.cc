// Rows P14, P15, P19: another thread allocates, starts, forks or samples while this one holds the
// loader's lock.
//
//   loader_lock callback    in a callback of dl_iterate_phdr, which holds the lock: allocates,
//   waits
//                           for the allocations of another thread, starts a thread and joins it
//   loader_lock constructor dlopens loader_lock_plugin.so, whose constructor starts a thread that
//                           allocates, and waits for it
//   loader_lock loop        dlopens and dlcloses it 50 times while three threads allocate and one
//                           walks the list of libraries with a callback that allocates
//   loader_lock throw       the same loop while three threads throw: unwinding walks that list too
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

std::atomic<int> wanted{0};
std::atomic<int> done{0};
std::atomic<bool> stop{false};

[[gnu::noinline]] void* alloc_under_lock() { return ground_truth::Kept<void>(malloc(10)); }
[[gnu::noinline]] void* alloc_beside_lock() { return ground_truth::Kept<void>(malloc(20)); }

// Allocates as often as it is asked to.
void* Answer(void*) {
  while (!stop.load()) {
    if (done.load() == wanted.load()) {
      usleep(100);
      continue;
    }
    for (int i = 0; i < 100; ++i) free(alloc_beside_lock());
    done.fetch_add(1);
  }
  return nullptr;
}

void* AllocateOnce(void*) {
  free(alloc_beside_lock());
  return nullptr;
}

int UnderLoaderLock(dl_phdr_info*, size_t, void* calls) {
  free(alloc_under_lock());
  if (++*static_cast<int*>(calls) > 1) return 0;
  const int round = wanted.fetch_add(1) + 1;
  while (done.load() < round) usleep(100);
  pthread_t thread;
  pthread_create(&thread, nullptr, AllocateOnce, nullptr);
  pthread_join(thread, nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(9);
  int status = 0;
  waitpid(child, &status, 0);
  if (WEXITSTATUS(status) != 9) abort();
  return 0;
}

void CallBack() {
  pthread_t thread;
  pthread_create(&thread, nullptr, Answer, nullptr);
  for (int i = 0; i < 5; ++i) {
    int calls = 0;
    dl_iterate_phdr(UnderLoaderLock, &calls);
  }
  stop = true;
  pthread_join(thread, nullptr);
}

void Load(const char* path, int times) {
  for (int i = 0; i < times; ++i) {
    void* library = dlopen(path, RTLD_NOW);
    if (library == nullptr) abort();
    auto* answer = reinterpret_cast<int (*)()>(dlsym(library, "PluginAnswer"));
    if (answer == nullptr || answer() != 42) abort();
    dlclose(library);
  }
}

void* Allocate(void*) {
  while (!stop.load()) {
    for (int i = 0; i < 100; ++i) free(alloc_beside_lock());
  }
  return nullptr;
}

int AllocateInCallback(dl_phdr_info*, size_t, void*) {
  free(alloc_under_lock());
  return 0;
}

void* Walk(void*) {
  while (!stop.load()) dl_iterate_phdr(AllocateInCallback, nullptr);
  return nullptr;
}

void* Throw(void*) {
  while (!stop.load()) {
    try {
      throw std::runtime_error("text on the heap");
    } catch (const std::exception&) {
    }
  }
  return nullptr;
}

void LoadAmong(const char* path, void* (*function)(void*)) {
  pthread_t threads[4];
  for (pthread_t& thread : threads) {
    pthread_create(&thread, nullptr, &thread == threads ? Walk : function, nullptr);
  }
  Load(path, 50);
  stop = true;
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
}

}  // namespace

int main(int, char** arguments) {
  const char* mode = arguments[1];
  if (strcmp(mode, "callback") == 0) CallBack();
  if (strcmp(mode, "constructor") == 0) Load(arguments[2], 20);
  if (strcmp(mode, "loop") == 0) LoadAmong(arguments[2], Allocate);
  if (strcmp(mode, "throw") == 0) LoadAmong(arguments[2], Throw);
  printf("%s done\n", mode);
  own_state::Print();
  return 3;
}
