// Row P63: what interposer_plugin.cc counts: blocks, threads, mappings, libraries closed.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "tests/programs/ground_truth.h"

namespace {

using ground_truth::Kept;

[[gnu::noinline]] void* alloc_counted() { return Kept<void>(malloc(4242)); }
[[gnu::noinline]] void* alloc_mapped() {
  return Kept<void>(
      mmap(nullptr, 81920, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

void* Work(void*) {
  for (int i = 0; i < 100; ++i) free(alloc_counted());
  munmap(alloc_mapped(), 81920);
  return nullptr;
}

}  // namespace

int main() {
  Work(nullptr);
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, Work, nullptr);
    pthread_join(thread, nullptr);
    void* library = dlopen("libm.so.6", RTLD_NOW);
    dlclose(library);
  }
  printf("worked\n");
  return 0;
}
