// Row P63: a library for LD_PRELOAD that stands in front of functions as tools do, with RTLD_NEXT,
// and counts at the end what it saw of the program (blocks of 4242 bytes, threads, mappings of
// 81920).
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/types.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

std::atomic<int> blocks{0};
std::atomic<int> threads{0};
std::atomic<int> mappings{0};
std::atomic<int> closed{0};

template <typename Function>
Function Next(Function& known, const char* name) {
  if (known == nullptr) known = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  if (known == nullptr) abort();
  return known;
}

void* (*next_malloc)(size_t);
void (*next_free)(void*);
int (*next_create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
void* (*next_mmap)(void*, size_t, int, int, int, off_t);
int (*next_close)(void*);

[[gnu::destructor]] void Say() {
  printf("interposer: %d blocks, %d threads, %d mappings, %d closed\n", blocks.load(),
         threads.load(), mappings.load(), closed.load());
}

}  // namespace

extern "C" {
void* malloc(size_t size) {
  blocks += size == 4242;
  return Next(next_malloc, "malloc")(size);
}
void free(void* block) { Next(next_free, "free")(block); }
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  ++threads;
  return Next(next_create, "pthread_create")(thread, attributes, start, argument);
}
void* mmap(void* start, size_t size, int protection, int flags, int fd, off_t offset) {
  mappings += size == 81920;
  return Next(next_mmap, "mmap")(start, size, protection, flags, fd, offset);
}
int dlclose(void* handle) {
  ++closed;
  return Next(next_close, "dlclose")(handle);
}
}
