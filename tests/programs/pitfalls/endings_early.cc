// Row P38: a library that is initialised before the profiler and finished after it.
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

#include "tests/programs/ground_truth.h"

[[gnu::noinline]] void* alloc_in_library(size_t bytes) {
  return ground_truth::Kept<void>(malloc(bytes));
}

namespace {

void Repeat(int count) {
  for (int i = 0; i < count; ++i) free(alloc_in_library(40));
}

[[gnu::constructor]] void Begin() { Repeat(30); }
[[gnu::destructor]] void End() { Repeat(70); }

}  // namespace
