// Row P54: the program exports malloc and free only. calloc and the rest are then libc's, or those
// of whoever was preloaded, and its free gets blocks that it does not know.
#include "tests/programs/pitfalls/own_malloc_work.h"
#include "tests/programs/pitfalls/pool_heap.h"

extern "C" {
void* malloc(size_t size) { return pool_heap::Allocate(size); }
void free(void*) {}
}

int main() {
  for (int i = 0; i < 1000; ++i) free(ground_truth::Kept<void>(calloc(10, 10)));
  return own_malloc_work::Run();
}
