// Row P110: blocks that nobody saw being allocated are freed and grown.
//
// Some come from a preinit function, before any constructor; some from libc's malloc itself, as a
// program gets it from dlsym on libc's handle, past every preloaded library.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

using ground_truth::Kept;

constexpr int kBlocks = 300;
void* early[kBlocks];
char* early_text;

[[gnu::noinline]] void* alloc_in_preinit(size_t size) { return Kept<void>(malloc(size)); }
[[gnu::noinline]] void* alloc_grown(void* block, size_t size) {
  return Kept<void>(realloc(block, size));
}

void Preinit(int, char**, char**) {
  for (size_t i = 0; i < kBlocks; ++i) early[i] = alloc_in_preinit(i + 1);
  early_text = strdup("from before");
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const preinit)(int, char**, char**) = Preinit;

void FreeUnseen() {
  void* libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  const auto unseen = reinterpret_cast<void* (*)(size_t)>(dlsym(libc, "malloc"));
  for (size_t i = 0; i < kBlocks; ++i) free(unseen(i + 1));
  for (size_t i = 0; i < kBlocks; ++i) free(alloc_grown(unseen(100), 2000));
}

}  // namespace

int main() {
  for (int i = 0; i < kBlocks; ++i) {
    i % 2 == 0 ? free(early[i]) : free(alloc_grown(early[i], 2000));
  }
  early_text = static_cast<char*>(realloc(early_text, 1000));
  printf("%s\n", early_text);
  FreeUnseen();
  own_state::Print();
  return 0;
}
