// Rows P52, P53, P55: every function that allocates or frees, each form of operator new and delete
// with its own partner, so often and of such a size that a form missed or counted twice shows.
//
//   allocation_forms [no_pvalloc]      200 calls of each; ends with status 4
//
// A run under another allocator prints the same. Some lack pvalloc: libc's block would then get
// into their free, which no program survives.
#include <dlfcn.h>
#include <malloc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

using ground_truth::Kept;

constexpr int kCalls = 200;
constexpr size_t kBytes = 1536;  // a multiple of the small alignments, of no page
constexpr auto kAlignment = std::align_val_t{64};

[[gnu::noinline]] void* alloc_malloc() { return Kept<void>(malloc(kBytes)); }
[[gnu::noinline]] void* alloc_calloc() { return Kept<void>(calloc(kBytes / 4, 4)); }
[[gnu::noinline]] void* alloc_realloc(void* old) { return Kept<void>(realloc(old, kBytes)); }
[[gnu::noinline]] void* alloc_reallocarray(void* old) {
  return Kept<void>(reallocarray(old, kBytes / 4, 4));
}
[[gnu::noinline]] void* alloc_memalign() { return Kept<void>(memalign(64, kBytes)); }
[[gnu::noinline]] void* alloc_aligned_alloc() { return Kept<void>(aligned_alloc(32, kBytes)); }
[[gnu::noinline]] void* alloc_posix_memalign() {
  void* block = nullptr;
  if (posix_memalign(&block, 128, kBytes) != 0) abort();
  return Kept<void>(block);
}
[[gnu::noinline]] void* alloc_valloc() { return Kept<void>(valloc(kBytes)); }
[[gnu::noinline]] void* alloc_pvalloc() { return Kept<void>(pvalloc(kBytes)); }
[[gnu::noinline]] void* alloc_new() { return Kept<void>(operator new(kBytes)); }
[[gnu::noinline]] void* alloc_new_array() { return Kept<void>(operator new[](kBytes)); }
[[gnu::noinline]] void* alloc_new_nothrow() {
  return Kept<void>(operator new(kBytes, std::nothrow));
}
[[gnu::noinline]] void* alloc_new_array_nothrow() {
  return Kept<void>(operator new[](kBytes, std::nothrow));
}
[[gnu::noinline]] void* alloc_new_aligned() { return Kept<void>(operator new(kBytes, kAlignment)); }
[[gnu::noinline]] void* alloc_new_array_aligned() {
  return Kept<void>(operator new[](kBytes, kAlignment));
}
[[gnu::noinline]] void* alloc_new_aligned_nothrow() {
  return Kept<void>(operator new(kBytes, kAlignment, std::nothrow));
}
[[gnu::noinline]] void* alloc_new_array_aligned_nothrow() {
  return Kept<void>(operator new[](kBytes, kAlignment, std::nothrow));
}

// Sized forms by name: clang++ 14 declares them only with a flag.
extern "C" {
void delete_sized(void*, size_t) asm("_ZdlPvm");
void delete_array_sized(void*, size_t) asm("_ZdaPvm");
void delete_sized_aligned(void*, size_t, std::align_val_t) asm("_ZdlPvmSt11align_val_t");
void delete_array_sized_aligned(void*, size_t, std::align_val_t) asm("_ZdaPvmSt11align_val_t");
}

// C23's, of libraries newer than this one; a program that finds none frees as ever.
void FreeSized(void* block) {
  using Function = void (*)(void*, size_t);
  static const auto function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "free_sized"));
  function != nullptr ? function(block, kBytes) : free(block);
}
void FreeAlignedSized(void* block) {
  using Function = void (*)(void*, size_t, size_t);
  static const auto function =
      reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "free_aligned_sized"));
  function != nullptr ? function(block, 32, kBytes) : free(block);
}

size_t misaligned = 0;
size_t too_small = 0;

// All of it is written, and read back as asked for: a header in front of the block would show.
void* Checked(void* block, size_t alignment) {
  misaligned += reinterpret_cast<uintptr_t>(block) % alignment != 0;
  too_small += malloc_usable_size(block) < kBytes;
  memset(block, 0x5a, kBytes);
  return block;
}

void CallC(bool pvalloc_too) {
  free(Checked(alloc_malloc(), 16));
  FreeSized(Checked(alloc_calloc(), 16));
  free(Checked(alloc_realloc(malloc(10)), 16));
  free(Checked(alloc_reallocarray(nullptr), 16));
  free(Checked(alloc_memalign(), 64));
  FreeAlignedSized(Checked(alloc_aligned_alloc(), 32));
  free(Checked(alloc_posix_memalign(), 128));
  free(Checked(alloc_valloc(), 4096));
  if (pvalloc_too) free(Checked(alloc_pvalloc(), 4096));
}

void CallCxx() {
  operator delete(Checked(alloc_new(), 16));
  delete_sized(Checked(alloc_new(), 16), kBytes);
  operator delete[](Checked(alloc_new_array(), 16));
  delete_array_sized(Checked(alloc_new_array(), 16), kBytes);
  operator delete(Checked(alloc_new_nothrow(), 16), std::nothrow);
  operator delete[](Checked(alloc_new_array_nothrow(), 16), std::nothrow);
  operator delete(Checked(alloc_new_aligned(), 64), kAlignment);
  delete_sized_aligned(Checked(alloc_new_aligned(), 64), kBytes, kAlignment);
  operator delete[](Checked(alloc_new_array_aligned(), 64), kAlignment);
  delete_array_sized_aligned(Checked(alloc_new_array_aligned(), 64), kBytes, kAlignment);
  operator delete(Checked(alloc_new_aligned_nothrow(), 64), kAlignment, std::nothrow);
  operator delete[](Checked(alloc_new_array_aligned_nothrow(), 64), kAlignment, std::nothrow);
}

}  // namespace

int main(int argc, char**) {
  for (int i = 0; i < kCalls; ++i) {
    CallC(argc == 1);
    CallCxx();
  }
  printf("misaligned %zu, too small %zu\n", misaligned, too_small);
  own_state::Print();
  return 4;
}
