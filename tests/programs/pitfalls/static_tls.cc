// Rows P18, P22: static thread-local storage, of which the loader has a small reserve.
//
//   static_tls libraries  dlopens 40 copies of static_tls_plugin.so, which needs static TLS: as
//   many
//                         load as the reserve has room for, and no fewer under a preloaded library
//   static_tls big        uses its own thread-local array of 2 MiB, in threads and in a child
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

thread_local char big_array[2 << 20];

[[gnu::noinline]] void* alloc_for_thread() { return ground_truth::Kept<void>(malloc(500)); }

void LoadLibraries(const char* path) {
  int loaded = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string copy = "./copy" + std::to_string(i) + ".so";
    std::ofstream(copy, std::ios::binary) << std::ifstream(path, std::ios::binary).rdbuf();
    void* library = dlopen(copy.c_str(), RTLD_NOW);
    if (library == nullptr) continue;
    ++loaded;
    reinterpret_cast<void (*)()>(dlsym(library, "UseStaticTls"))();
  }
  printf("%d libraries with static TLS loaded\n", loaded);
}

void* FillArray(void*) {
  memset(big_array, 1, sizeof(big_array));
  free(alloc_for_thread());
  return nullptr;
}

void FillArrays() {
  FillArray(nullptr);
  for (int i = 0; i < 10; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, FillArray, nullptr) != 0) abort();
    pthread_join(thread, nullptr);
  }
  const pid_t child = fork();
  if (child == 0) {
    FillArray(nullptr);
    exit(8);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %x\n", static_cast<unsigned>(status));
}

}  // namespace

int main(int, char** arguments) {
  const std::string mode = arguments[1];
  if (mode == "libraries") LoadLibraries(arguments[2]);
  if (mode == "big") FillArrays();
  own_state::Print();
  return 3;
}
