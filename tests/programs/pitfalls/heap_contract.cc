// Rows P56, P57, P58: what the C and POSIX standards and glibc promise of malloc and mmap.
//
//   heap_contract errno       errno stays what it was over calls that succeed, from a fresh thread
//   too heap_contract failures    sizes that can't be had: null, ENOMEM, and the old block as it
//   was heap_contract layout      alignment, usable sizes, and all usable bytes are the program's
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

using ground_truth::Kept;

constexpr int kOdd = 4242;  // no error has this number
constexpr size_t kHuge = PTRDIFF_MAX;

// The compiler knows that these calls fail, and must not: the numbers come from where it can't see.
size_t Opaque(size_t value) {
  ground_truth::Escape(value);
  return value;
}
const size_t over_half = Opaque(SIZE_MAX / 2);
const size_t most = Opaque(SIZE_MAX);

[[gnu::noinline]] void* alloc_kept(size_t size) { return Kept<void>(malloc(size)); }
[[gnu::noinline]] void* alloc_refused(size_t size) { return Kept<void>(malloc(size)); }
[[gnu::noinline]] void* alloc_grown(void* block, size_t size) {
  return Kept<void>(realloc(block, size));
}

size_t changes = 0;

void Check() {
  changes += errno != kOdd;
  errno = kOdd;
}

// The first call of a thread is the one that registers it: whatever that needs, errno is the
// program's.
void* KeepErrno(void*) {
  errno = kOdd;
  free(alloc_kept(10));
  Check();
  for (size_t size = 1; size < size_t{64} << 20; size *= 3) {
    void* block = alloc_kept(size);
    Check();
    block = alloc_grown(block, size + size / 2);
    Check();
    free(block);
    Check();
  }
  free(nullptr);
  free(Kept<void>(calloc(3, 1000)));
  free(Kept<void>(memalign(4096, 1000)));
  operator delete(operator new(1 << 20));
  Check();
  for (int i = 0; i < 2000; ++i) {
    constexpr size_t kBytes = 8192;
    void* mapping =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Check();
    mapping = mremap(mapping, kBytes, 4 * kBytes, MREMAP_MAYMOVE);
    Check();
    munmap(mapping, 4 * kBytes);
    Check();
  }
  return nullptr;
}

void Errno() {
  KeepErrno(nullptr);
  for (int i = 0; i < 20; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, KeepErrno, nullptr);
    pthread_join(thread, nullptr);
  }
  printf("errno changed %zu times\n", changes);
}

void Say(const char* what, const void* block) {
  printf("%s: %s, errno %d\n", what, block == nullptr ? "null" : "a block", errno);
  errno = kOdd;
}

void RefusedSizes() {
  errno = kOdd;
  for (const size_t size : {kHuge, kHuge - 4096, SIZE_MAX, SIZE_MAX - 4096}) {
    Say("malloc", alloc_refused(size));
    Say("calloc", Kept<void>(calloc(1, size)));
    Say("valloc", Kept<void>(valloc(size)));
    Say("pvalloc", Kept<void>(pvalloc(size)));
    Say("memalign", Kept<void>(memalign(64, size)));
    Say("aligned_alloc", Kept<void>(aligned_alloc(64, size)));
    void* untouched = &errno;
    printf("posix_memalign %d\n", posix_memalign(&untouched, 64, size));
    printf("result %s\n", untouched == &errno ? "untouched" : "changed");
    Say("new", Kept<void>(operator new(size, std::nothrow)));
  }
}

void Products() {
  Say("calloc overflow", Kept<void>(calloc(over_half, 3)));
  Say("reallocarray overflow", Kept<void>(reallocarray(nullptr, over_half, 3)));
  Say("calloc(0, n)", Kept<void>(calloc(0, most)));
  void* wrong = nullptr;
  printf("posix_memalign of 3: %d\n", posix_memalign(&wrong, 3, 10));
  bool thrown = false;
  try {
    Kept<void>(operator new(kHuge));
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  printf("new throws: %d\n", thrown);
  const void* mapping =
      mmap(nullptr, size_t{1} << 60, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Say("mmap", mapping == MAP_FAILED ? nullptr : mapping);
  printf("munmap of an odd address: %d\n", munmap(&thrown, 4096));
  Say("munmap", nullptr);
}

void FailedRealloc() {
  char* block = static_cast<char*>(alloc_kept(1000));
  memset(block, 7, 1000);
  char* given = block;  // the compiler takes a block that realloc was given for gone
  char* kept = block;
  ground_truth::Escape(given);
  ground_truth::Escape(kept);
  Say("realloc", alloc_grown(block, kHuge));
  Say("reallocarray", Kept<void>(reallocarray(given, over_half, 3)));
  int sum = 0;
  for (int i = 0; i < 1000; ++i) sum += kept[i];
  printf("block kept, sum %d\n", sum);
  free(kept);
  Say("realloc to nothing", Kept<void>(realloc(alloc_kept(100), 0)));
  free(alloc_grown(nullptr, 50));
}

void Failures() {
  RefusedSizes();
  Products();
  FailedRealloc();
}

void Layout() {
  size_t written = 0;
  for (size_t size = 0; size < 5000; size = size * 9 / 8 + 1) {
    auto* block = static_cast<char*>(alloc_kept(size));
    const size_t usable = malloc_usable_size(block);
    printf("%zu: usable %zu, at 16: %d\n", size, usable,
           reinterpret_cast<uintptr_t>(block) % 16 == 0);
    memset(block, 0xff, usable);  // all of it is ours, also the last byte
    written += usable;
    block = static_cast<char*>(alloc_grown(block, usable));
    free(block);
  }
  for (size_t alignment = 16; alignment <= size_t{1} << 21; alignment *= 2) {
    void* block = Kept<void>(aligned_alloc(alignment, alignment));
    const size_t usable = malloc_usable_size(block);
    printf("aligned to %zu: %d, usable %d\n", alignment,
           reinterpret_cast<uintptr_t>(block) % alignment == 0, usable >= alignment);
    memset(block, 0xff, usable);
    free(block);
  }
  printf("usable of null %zu, written %zu\n", malloc_usable_size(nullptr), written);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "errno") Errno();
  if (what == "failures") Failures();
  if (what == "layout") Layout();
  own_state::Print();
  return 0;
}
