// What the programs with a malloc of their own do with it.
#ifndef MEMAGENT_TESTS_PROGRAMS_PITFALLS_OWN_MALLOC_WORK_H_
#define MEMAGENT_TESTS_PROGRAMS_PITFALLS_OWN_MALLOC_WORK_H_

#include <pthread.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "tests/programs/ground_truth.h"

namespace own_malloc_work {

inline constexpr size_t kMappedBytes = size_t{1} << 20;

[[gnu::noinline]] inline void* alloc_mapping() {
  return ground_truth::Kept<void>(
      mmap(nullptr, kMappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

[[gnu::noinline]] inline void* alloc_own(size_t size) {
  return ground_truth::Kept<void>(malloc(size));
}

inline void* InThread(void*) {
  for (size_t i = 0; i < 2000; ++i) free(alloc_own(i % 700 + 1));
  return nullptr;
}

inline int Run() {
  void* mapping = alloc_mapping();
  InThread(nullptr);
  pthread_t thread;
  pthread_create(&thread, nullptr, InThread, nullptr);
  pthread_join(thread, nullptr);
  for (int i = 0; i < 10; ++i) munmap(alloc_mapping(), kMappedBytes);
  printf("mapped %d, done\n", mapping != MAP_FAILED);
  return 6;
}

}  // namespace own_malloc_work

#endif  // MEMAGENT_TESTS_PROGRAMS_PITFALLS_OWN_MALLOC_WORK_H_
