// Row P90: main reads the environment all the time; whoever changed it meanwhile would crash us.
//
//   getenv_loop      allocates 1,000 blocks of 64 bytes between 200,000 look-ups
#include <cstdio>
#include <cstdlib>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

[[gnu::noinline]] void* alloc_between() { return ground_truth::Kept<void>(malloc(64)); }

int main() {
  size_t found = 0;
  for (int i = 0; i < 200000; ++i) {
    found += getenv("PATH") != nullptr;
    if (i % 200 == 0) alloc_between();
  }
  printf("found %zu\n", found);
  own_state::Print();
  return 3;
}
