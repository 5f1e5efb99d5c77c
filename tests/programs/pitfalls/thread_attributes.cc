// Row P11: pthread_getattr_np holds the lock of the thread it is asked about, and allocates.
//
// For the main thread it reads /proc/self/maps by getline. A hook that asks for the stack's bounds
// in the same way waits for itself, or for a thread that waits for it.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 100;

pthread_t main_thread;
pthread_t threads[kThreads];
pthread_barrier_t all_there;

[[gnu::noinline]] void* alloc_round() { return ground_truth::Kept<void>(malloc(40)); }

void Ask(pthread_t thread) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(thread, &attributes) != 0) abort();
  void* stack = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &stack, &size);
  cpu_set_t cpus;
  pthread_attr_getaffinity_np(&attributes, sizeof(cpus), &cpus);
  pthread_attr_destroy(&attributes);
  if (stack == nullptr || size == 0) abort();
}

void* AskAboutEveryone(void*) {
  pthread_barrier_wait(&all_there);
  for (int i = 0; i < kRounds; ++i) {
    Ask(main_thread);
    Ask(pthread_self());
    for (const pthread_t thread : threads) Ask(thread);
    free(alloc_round());
  }
  pthread_barrier_wait(&all_there);  // nobody asks about a thread that has ended
  return nullptr;
}

}  // namespace

int main() {
  main_thread = pthread_self();
  pthread_barrier_init(&all_there, nullptr, kThreads + 1);
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, AskAboutEveryone, nullptr);
  AskAboutEveryone(nullptr);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  puts("asked");
  own_state::Print();
  return 3;
}
