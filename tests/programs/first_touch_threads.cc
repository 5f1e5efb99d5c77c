// Each of N threads touches a set of pages of one buffer, every Nth, each page by one thread only
// and the first of them as the thread's very first action.
//
//   first_touch_threads [THREADS [PAGES_EACH]]    (default 4 and 512)
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <vector>

#include "tests/programs/ground_truth.h"

namespace {

constexpr size_t kPageBytes = 4096;

struct Toucher {
  char* buffer;
  size_t first_page;
  size_t stride;
  size_t pages;
  pthread_t handle = 0;
  long tid = 0;
  char name[16] = {};
};

// Huge pages would make one fault cover the pages of several threads.
[[gnu::noinline]] char* alloc_buffer(size_t bytes) {
  void* buffer = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (buffer == MAP_FAILED || madvise(buffer, bytes, MADV_NOHUGEPAGE) != 0) abort();
  return static_cast<char*>(buffer);
}

[[gnu::noinline]] void touch_pages(const Toucher& toucher) {
  for (size_t i = 0; i < toucher.pages; ++i) {
    toucher.buffer[(toucher.first_page + i * toucher.stride) * kPageBytes] = 1;
  }
}

void* Run(void* argument) {
  auto* toucher = static_cast<Toucher*>(argument);
  touch_pages(*toucher);
  pthread_setname_np(pthread_self(), toucher->name);
  toucher->tid = syscall(SYS_gettid);
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const size_t threads = argc > 1 ? static_cast<size_t>(atoi(argv[1])) : 4;
  const size_t pages = argc > 2 ? static_cast<size_t>(atoi(argv[2])) : 512;
  char* buffer = alloc_buffer(threads * pages * kPageBytes);
  std::vector<Toucher> touchers;
  for (size_t t = 0; t < threads; ++t) touchers.push_back({buffer, t, threads, pages});
  for (size_t t = 0; t < threads; ++t) {
    snprintf(touchers[t].name, sizeof(touchers[t].name), "toucher%u",
             static_cast<unsigned>(t % 1000));
    if (pthread_create(&touchers[t].handle, nullptr, Run, &touchers[t]) != 0) abort();
  }
  printf("{\"buffer\": \"alloc_buffer\", \"code\": \"touch_pages\", \"threads\": [");
  for (size_t t = 0; t < threads; ++t) {
    pthread_join(touchers[t].handle, nullptr);
    printf("%s{\"tid\": %ld, \"name\": \"%s\", \"pages\": %zu}", t == 0 ? "" : ", ",
           touchers[t].tid, touchers[t].name, pages);
  }
  printf("]}\n");
  return 0;
}
