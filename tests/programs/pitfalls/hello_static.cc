// Rows P91, P93: no loader, so nothing can be preloaded. Linked with -static, as CMakeLists.txt
// does for *_static.
#include <cstdio>
#include <cstdlib>

#include "tests/programs/ground_truth.h"

[[gnu::noinline]] void* alloc_static() { return ground_truth::Kept<void>(malloc(1000)); }

int main() {
  for (int i = 0; i < 100; ++i) alloc_static();
  printf("static\n");
  return 6;
}
