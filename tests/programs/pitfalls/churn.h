// Work that keeps an allocator busy, and threads that do nothing else.
#ifndef MEMAGENT_TESTS_PROGRAMS_PITFALLS_CHURN_H_
#define MEMAGENT_TESTS_PROGRAMS_PITFALLS_CHURN_H_

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/programs/ground_truth.h"

namespace churn {

// `rounds` allocations of 1 to 5,000 bytes, of which 64 live at a time; all are freed in the end.
[[gnu::noinline]] inline void Churn(int rounds) {
  void* blocks[64] = {};
  uint64_t random = static_cast<uint64_t>(rounds);
  for (int i = 0; i < rounds; ++i) {
    random = ground_truth::NextRandom(random);
    void*& block = blocks[random >> 58];
    free(block);
    block = malloc((random >> 32) % 5000 + 1);
    if (block != nullptr) *static_cast<volatile char*>(block) = 1;
  }
  for (void* block : blocks) free(block);
}

// Starts `count` threads that churn until the process ends.
inline void StartForEver(int count) {
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          while (true) Churn(100);
        },
        nullptr);
    pthread_detach(thread);
  }
}

// Allocates and frees `count` blocks of `bytes` at the site of `alloc`.
inline void Repeat(void* (*alloc)(size_t), int count, size_t bytes) {
  for (int i = 0; i < count; ++i) free(alloc(bytes));
}

}  // namespace churn

#endif  // MEMAGENT_TESTS_PROGRAMS_PITFALLS_CHURN_H_
