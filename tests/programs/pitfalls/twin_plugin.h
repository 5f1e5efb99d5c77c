// Two plug-ins of one shape, a_plugin.cc and b_plugin.cc: loaded in turn, they get the same
// addresses, and their functions lie at the same places in them.
//
// C++ without libstdc++'s heap, so that a second name space needs only a second libc.
#ifndef MEMAGENT_TESTS_PROGRAMS_PITFALLS_TWIN_PLUGIN_H_
#define MEMAGENT_TESTS_PROGRAMS_PITFALLS_TWIN_PLUGIN_H_

#include <time.h>

#include <cstdint>
#include <cstdlib>

#include "tests/programs/ground_truth.h"

extern "C" [[gnu::weak]] void memagent_test_nobody_defines_this();

// Defines work_X, alloc_in_X and read_in_X: work_X(ms) allocates ten blocks of `bytes` and reads
// one of them for so many milliseconds of CPU time.
#define MEMAGENT_TWIN_PLUGIN(X, bytes)                                                    \
  extern "C" {                                                                            \
  [[gnu::noinline]] void* alloc_in_##X(size_t size) {                                     \
    return ground_truth::Kept<void>(malloc(size));                                        \
  }                                                                                       \
  [[gnu::noinline]] uint64_t read_in_##X(const volatile uint64_t* words, size_t count) {  \
    uint64_t sum = 0;                                                                     \
    for (size_t i = 0; i < count; ++i) sum += words[i];                                   \
    return sum;                                                                           \
  }                                                                                       \
  int work_##X(int millis) {                                                              \
    for (int i = 0; i < 9; ++i) free(alloc_in_##X(bytes));                                \
    auto* words = static_cast<uint64_t*>(alloc_in_##X(bytes));                            \
    for (size_t i = 0; i < (bytes) / 8; ++i) words[i] = 1;                                \
    const double end = ground_truth::ThreadCpuSeconds() + millis / 1000.0;                \
    uint64_t sum = 0;                                                                     \
    while (ground_truth::ThreadCpuSeconds() < end) sum = read_in_##X(words, (bytes) / 8); \
    free(words);                                                                          \
    return static_cast<int>(sum);                                                         \
  }                                                                                       \
  }

#endif  // MEMAGENT_TESTS_PROGRAMS_PITFALLS_TWIN_PLUGIN_H_
