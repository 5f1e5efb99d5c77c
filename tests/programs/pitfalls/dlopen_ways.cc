// Rows P60 to P63, P80: what the dynamic loader promises a program and its plug-ins.
//
//   dlopen_ways weak          functions that nobody defines are null, for the program and a plug-in
//   dlopen_ways deepbind      a plug-in bound past every preloaded library allocates and frees
//   dlopen_ways runpath       plug-ins found by the RUNPATH of whoever asks, and not by others'
//   dlopen_ways error         dlerror says what the last failure was, once
//   dlopen_ways namespace     dlmopen: a second libc in the process
//   dlopen_ways next          RTLD_NEXT and RTLD_DEFAULT give functions that work
//   dlopen_ways reload        two plug-ins in turn at the same addresses
//
// The plug-ins are looked for in ./lib (runpath: ./lib and ./lib/private).
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

extern "C" {
[[gnu::weak]] void memagent_test_nobody_defines_this();
[[gnu::weak]] void* malloc_of_tomorrow(size_t);
}

namespace {

using ground_truth::Kept;
using Work = int (*)(int);

[[gnu::noinline]] void* alloc_in_program(size_t size) { return Kept<void>(malloc(size)); }

void* Open(const std::string& path, int flags) {
  void* handle = dlopen(path.c_str(), flags);
  if (handle == nullptr) printf("dlopen: %s\n", dlerror());
  return handle;
}

template <typename Function>
Function Symbol(void* handle, const char* name) {
  return reinterpret_cast<Function>(dlsym(handle, name));
}

void Weak() {
  printf("weak: %d %d\n", &memagent_test_nobody_defines_this != nullptr,
         &malloc_of_tomorrow != nullptr);
  void* plugin = Open("lib/a_plugin.so", RTLD_NOW);
  printf("plug-in's weak: %d\n", Symbol<Work>(plugin, "weak_count")(0));
  printf("dlsym: %d\n", dlsym(RTLD_DEFAULT, "memagent_test_nobody_defines_this") != nullptr);
  // Function pointers and immediate binding reach the same malloc as calls do.
  void* (*const direct)(size_t) = &malloc;
  printf("same malloc: %d\n", reinterpret_cast<void*>(direct) == dlsym(RTLD_DEFAULT, "malloc"));
}

void Deepbind() {
  for (int i = 0; i < 50; ++i) {
    void* plugin = Open("lib/a_plugin.so", RTLD_NOW | RTLD_DEEPBIND);
    const auto make = Symbol<void* (*)(size_t)>(plugin, "make_block");
    const auto give_back = Symbol<void (*)(void*)>(plugin, "free_block");
    free(make(100));                       // born unseen, freed by the program
    give_back(alloc_in_program(100));      // seen, freed unseen
    give_back(realloc(make(100), 20000));  // born unseen, grown here, freed unseen
    dlclose(plugin);
  }
  printf("deepbind done\n");
}

void Try(const char* what, const char* name) {
  void* handle = dlopen(name, RTLD_NOW);
  printf("%s %s: %s\n", what, name, handle != nullptr ? "found" : dlerror());
  if (handle != nullptr) dlclose(handle);
}

void Runpath() {
  Try("program", "hidden_plugin.so");  // in lib/private, which only outer_plugin.so's RUNPATH names
  void* outer = Open("lib/outer_plugin.so", RTLD_NOW);
  printf("outer: %d\n", Symbol<Work>(outer, "open_hidden")(0));
  Try("program", "hidden_plugin.so");
  Dl_serinfo size = {};
  printf("search path asked: %d\n", dlinfo(outer, RTLD_DI_SERINFOSIZE, &size));
  printf("directories: %u\n", size.dls_cnt);
}

const char* Error() {
  const char* text = dlerror();
  return text != nullptr ? text : "nothing";
}

void Errors() {
  printf("at the start: %s\n", Error());
  dlopen("/nowhere/none.so", RTLD_NOW);
  free(alloc_in_program(100));  // dlerror's state is per thread and must outlive any allocation
  munmap(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
  printf("of dlopen: %s\n", Error());
  printf("again: %s\n", Error());
  void* plugin = Open("lib/a_plugin.so", RTLD_NOW);
  dlsym(plugin, "no_such_name");
  free(alloc_in_program(200));
  const std::string of_symbol = Error();
  printf("of dlsym: %s\n", of_symbol.substr(of_symbol.rfind(':') + 1).c_str());
  dlsym(plugin, "neither_this");
  printf("dlclose: %d\n", dlclose(plugin));
  const std::string kept = Error();
  printf("over dlclose: %s\n", kept.substr(kept.rfind(':') + 1).c_str());
}

void Namespace() {
  for (int i = 0; i < 3; ++i) {
    void* plugin = dlmopen(LM_ID_NEWLM, "lib/a_plugin.so", RTLD_NOW);
    if (plugin == nullptr) {
      printf("dlmopen: %s\n", dlerror());
      return;
    }
    printf("second libc: %d\n", Symbol<Work>(plugin, "work_a")(10));
    free(alloc_in_program(100));
    dlclose(plugin);
  }
}

void Next() {
  const auto next_malloc = Symbol<void* (*)(size_t)>(RTLD_NEXT, "malloc");
  const auto next_calloc = Symbol<void* (*)(size_t, size_t)>(RTLD_NEXT, "calloc");
  const auto any_realloc = Symbol<void* (*)(void*, size_t)>(RTLD_DEFAULT, "realloc");
  const auto next_free = Symbol<void (*)(void*)>(RTLD_NEXT, "free");
  for (int i = 0; i < 200; ++i) {
    next_free(alloc_in_program(4242));
    free(any_realloc(next_malloc(4242), 42420));
    next_free(next_calloc(42, 101));
  }
  printf("next done\n");
}

// Each round puts the other plug-in where the last one was: same size, same layout.
void Reload() {
  uintptr_t last = 0;
  int same_place = 0;
  int sum = 0;
  for (int i = 0; i < 6; ++i) {
    const bool first = i % 2 == 0;
    void* plugin = Open(first ? "lib/a_plugin.so" : "lib/b_plugin.so", RTLD_NOW);
    const auto work = Symbol<Work>(plugin, first ? "work_a" : "work_b");
    same_place += reinterpret_cast<uintptr_t>(work) == last;
    last = reinterpret_cast<uintptr_t>(work);
    sum += work(60);
    dlclose(plugin);
  }
  printf("at the same place %d times, sum %d\n", same_place, sum);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "weak") Weak();
  if (what == "deepbind") Deepbind();
  if (what == "runpath") Runpath();
  if (what == "error") Errors();
  if (what == "namespace") Namespace();
  if (what == "next") Next();
  if (what == "reload") Reload();
  own_state::Print();
  return 0;
}
