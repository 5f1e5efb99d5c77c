// Row P54: a malloc linked into the program under that name and not exported, as by objcopy
// --localize-symbol: the program's own calls go there, those of libc and libstdc++ to libc's.
#include <cstdlib>

#include "tests/programs/pitfalls/pool_heap.h"

[[gnu::used, gnu::noinline]] static void* LocalMalloc(size_t size) asm("malloc");
[[gnu::used, gnu::noinline]] static void LocalFree(void* block) asm("free");
static void* LocalMalloc(size_t size) { return pool_heap::Allocate(size); }
static void LocalFree(void* block) { pool_heap::Free(block); }

#include "tests/programs/pitfalls/own_malloc_work.h"

int main() {
  char* line = nullptr;  // getline's block is libc's: it must not be given to our free
  size_t size = 0;
  FILE* file = fopen("/proc/self/comm", "r");
  if (file != nullptr && getline(&line, &size, file) > 0) printf("%s", line);
  return own_malloc_work::Run();
}
