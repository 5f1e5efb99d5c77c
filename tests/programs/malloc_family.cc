// Calls every allocation function of libc and C++ a known number of times from a function of its
// own, and prints what each function did.
//
//   malloc_family [CALLS]    (default 100)
#include <malloc.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/programs/ground_truth.h"

namespace {

constexpr size_t kBytes = 4096;
constexpr auto kAlignment = std::align_val_t{256};

// Without this the compiler removes malloc and free pairs that nobody looks at.
template <typename T>
T* Seen(T* block) {
  if (block == nullptr) abort();
  ground_truth::Escape(block);
  return block;
}

[[gnu::noinline]] void* call_malloc() { return Seen(malloc(kBytes)); }
[[gnu::noinline]] void* call_calloc() { return Seen(calloc(kBytes / 8, 8)); }
[[gnu::noinline]] void* call_realloc(void* block) { return Seen(realloc(block, kBytes)); }
[[gnu::noinline]] void* call_reallocarray(void* block) {
  return Seen(reallocarray(block, kBytes / 8, 8));
}
[[gnu::noinline]] void* call_memalign() { return Seen(memalign(256, kBytes)); }
[[gnu::noinline]] void* call_aligned_alloc() { return Seen(aligned_alloc(128, kBytes)); }
[[gnu::noinline]] void* call_posix_memalign() {
  void* block = nullptr;
  if (posix_memalign(&block, 512, kBytes) != 0) abort();
  return Seen(block);
}
[[gnu::noinline]] void* call_valloc() { return Seen(valloc(kBytes)); }
[[gnu::noinline]] void* call_pvalloc() { return Seen(pvalloc(kBytes)); }
[[gnu::noinline]] void* call_strdup(const char* text) { return Seen(strdup(text)); }
[[gnu::noinline]] void* call_new() { return Seen(operator new(kBytes)); }
[[gnu::noinline]] void* call_new_array() { return Seen(operator new[](kBytes)); }
[[gnu::noinline]] void* call_new_nothrow() { return Seen(operator new(kBytes, std::nothrow)); }
[[gnu::noinline]] void* call_new_aligned() { return Seen(operator new(kBytes, kAlignment)); }
[[gnu::noinline]] void* call_mmap() {
  void* block = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) abort();
  return Seen(block);
}
[[gnu::noinline]] void* call_shmat() {
  const int id = shmget(IPC_PRIVATE, kBytes, IPC_CREAT | 0600);
  if (id < 0) abort();
  void* block = shmat(id, nullptr, 0);
  shmctl(id, IPC_RMID, nullptr);
  if (block == reinterpret_cast<void*>(-1)) abort();
  return Seen(block);
}

// Pass-through must be exact: pointers aligned as asked, sizes at least what was asked, errno kept.
void CheckBlock(void* block, size_t alignment) {
  if (reinterpret_cast<uintptr_t>(block) % alignment != 0) abort();
  memset(block, 1, kBytes);
}

void Release(void* block, size_t alignment) {
  CheckBlock(block, alignment);
  if (malloc_usable_size(block) < kBytes) abort();
  free(block);
}

void CallOnce(const char* text) {
  Release(call_malloc(), 16);
  Release(call_calloc(), 16);
  Release(call_realloc(nullptr), 16);
  Release(call_reallocarray(nullptr), 16);
  Release(call_memalign(), 256);
  Release(call_aligned_alloc(), 128);
  Release(call_posix_memalign(), 512);
  Release(call_valloc(), 4096);
  Release(call_pvalloc(), 4096);
  Release(call_strdup(text), 16);
  void* block = call_new();
  CheckBlock(block, 16);
#ifdef __cpp_sized_deallocation  // clang++ 14 has it only with a flag
  operator delete(block, kBytes);
#else
  operator delete(block);
#endif
  block = call_new_array();
  CheckBlock(block, 16);
  operator delete[](block);
  operator delete(call_new_nothrow(), std::nothrow);
  block = call_new_aligned();
  CheckBlock(block, 256);
  operator delete(block, kAlignment);
  block = call_mmap();
  CheckBlock(block, 4096);
  munmap(block, kBytes);
  block = call_shmat();
  CheckBlock(block, 4096);
  shmdt(block);
}

struct Truth {
  const char* function;
  const char* kind;
};
constexpr Truth kTruth[] = {
    {"call_malloc", "heap"},         {"call_calloc", "heap"},      {"call_realloc", "heap"},
    {"call_reallocarray", "heap"},   {"call_memalign", "heap"},    {"call_aligned_alloc", "heap"},
    {"call_posix_memalign", "heap"}, {"call_valloc", "heap"},      {"call_pvalloc", "heap"},
    {"call_strdup", "heap"},         {"call_new", "heap"},         {"call_new_array", "heap"},
    {"call_new_nothrow", "heap"},    {"call_new_aligned", "heap"}, {"call_mmap", "mmap"},
    {"call_shmat", "shm"},
};

}  // namespace

int main(int argc, char** argv) {
  const int calls = argc > 1 ? atoi(argv[1]) : 100;
  char text[kBytes];
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  for (int i = 0; i < calls; ++i) CallOnce(text);
  printf("{\"calls\": %d, \"bytes_each\": %zu, \"sites\": [", calls, kBytes);
  const char* separator = "";
  for (const Truth& truth : kTruth) {
    printf("%s{\"function\": \"%s\", \"kind\": \"%s\"}", separator, truth.function, truth.kind);
    separator = ", ";
  }
  printf("]}\n");
  return 0;
}
