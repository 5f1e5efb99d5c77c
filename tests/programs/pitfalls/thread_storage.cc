// Rows P20, P21, P22: the end of a thread's storage, and small stacks.
//
//   thread_storage keys      destructors of keys allocate and set the key again, up to the four
//   rounds
//                            that POSIX allows; dlerror's text is freed after all of them; some
//                            fork
//   thread_storage free_only 4,000 threads that only free what main allocated
//   thread_storage stacks    threads that use nearly all of a stack of 16 KiB; prints how much of a
//   big
//                            stack the work takes
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

pthread_key_t key;
thread_local int rounds = 0;

[[gnu::noinline]] void* alloc_value() { return ground_truth::Kept<void>(malloc(10)); }
[[gnu::noinline]] void* alloc_in_destructor() { return ground_truth::Kept<void>(malloc(100)); }
[[gnu::noinline]] void* alloc_for_thread() { return ground_truth::Kept<void>(malloc(500)); }
[[gnu::noinline]] void* alloc_on_small_stack() { return ground_truth::Kept<void>(malloc(33)); }

void RunThread(void* (*function)(void*), void* argument, const pthread_attr_t* attributes) {
  pthread_t thread;
  if (pthread_create(&thread, attributes, function, argument) != 0) abort();
  pthread_join(thread, nullptr);
}

void ForkAndWait(int status) {
  const pid_t child = fork();
  if (child == 0) {
    free(alloc_in_destructor());
    _exit(status);
  }
  int ended = 0;
  if (waitpid(child, &ended, 0) != child || WEXITSTATUS(ended) != status) abort();
}

void DestroyValue(void* value) {
  free(value);
  free(alloc_in_destructor());
  if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS) pthread_setspecific(key, alloc_value());
}

void DestroyValueAndFork(void* value) {
  free(value);
  ForkAndWait(7);
}

void* SetValue(void* other_key) {
  pthread_setspecific(key, alloc_value());
  if (other_key != nullptr) {
    pthread_setspecific(*static_cast<pthread_key_t*>(other_key), alloc_value());
  }
  dlopen("no such library", RTLD_NOW);  // its text is freed after the destructors
  if (strerror(9999) == nullptr) abort();
  return nullptr;
}

void Keys() {
  pthread_key_create(&key, DestroyValue);
  for (int i = 0; i < 500; ++i) RunThread(SetValue, nullptr, nullptr);
  pthread_key_t forking;
  pthread_key_create(&forking, DestroyValueAndFork);
  for (int i = 0; i < 5; ++i) RunThread(SetValue, &forking, nullptr);
}

void* Free(void* block) {
  free(block);
  return nullptr;
}

void FreeOnly() {
  for (int i = 0; i < 4000; ++i) RunThread(Free, alloc_for_thread(), nullptr);
}

[[gnu::noinline]] int Recurse(int depth) {
  volatile char frame[64] = {};
  if (depth == 0) {
    free(alloc_on_small_stack());
    void* page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page, 4096);
    return 0;
  }
  return Recurse(depth - 1) + frame[depth % 64];
}

void* RunDeep(void* depth) {
  for (int i = 0; i < 20; ++i) Recurse(*static_cast<int*>(depth));
  return nullptr;
}

// How many bytes of a stack the work takes: the part that is not zero any more.
size_t StackUsed(int depth) {
  constexpr size_t kBytes = 256 << 10;
  void* stack = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, kBytes);
  RunThread(RunDeep, &depth, &attributes);
  size_t untouched = 0;
  while (untouched < kBytes && static_cast<char*>(stack)[untouched] == 0) ++untouched;
  munmap(stack, kBytes);
  return kBytes - untouched;
}

void Stacks() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) != 0) abort();
  for (int depth = 0; depth <= 80; depth += 10) RunThread(RunDeep, &depth, &attributes);
  const size_t used = StackUsed(200);
  printf("stack used: %zu\n", used);
}

}  // namespace

int main(int, char** arguments) {
  const std::string mode = arguments[1];
  if (mode == "keys") Keys();
  if (mode == "free_only") FreeOnly();
  if (mode == "stacks") Stacks();
  printf("%s done\n", mode.c_str());
  own_state::Print();
  return 3;
}
