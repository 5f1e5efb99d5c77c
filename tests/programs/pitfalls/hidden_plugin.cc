// Row P62: found only by who has its folder in its RUNPATH.
#include <cstdlib>

#include "tests/programs/ground_truth.h"

[[gnu::noinline]] static void* alloc_in_hidden() { return ground_truth::Kept<void>(malloc(777)); }

extern "C" int hidden_answer() {
  void* block = alloc_in_hidden();
  free(block);
  return 42;
}
