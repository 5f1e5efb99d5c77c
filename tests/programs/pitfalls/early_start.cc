// Rows P01, P02, P03, P05: what runs before the constructor of a preloaded library.
//
//   early_start heap      .preinit_array allocates by every function of the family, more than any
//   small
//                         start-up arena holds; main and a destructor resize, measure and free it
//   early_start thread    .preinit_array starts a thread that allocates before, while and after the
//                         libraries are initialised
//   early_start fork      .preinit_array forks; both processes run on into main
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

constexpr int kBlocks = 3000;
constexpr size_t kBytes = 1000;

void* blocks[kBlocks];
void* family[8];
bool environment_missing = false;
pthread_t early_thread;
int thread_blocks = 0;
pid_t early_child = -1;

[[gnu::noinline]] void* alloc_preinit() { return ground_truth::Kept<void>(malloc(kBytes)); }
[[gnu::noinline]] void* alloc_big() { return ground_truth::Kept<void>(malloc(1 << 20)); }
[[gnu::noinline]] void* alloc_thread() { return ground_truth::Kept<void>(malloc(48)); }
[[gnu::noinline]] void* alloc_main() { return ground_truth::Kept<void>(malloc(64)); }

bool Is(const char* text, const char* wanted) { return strcmp(text, wanted) == 0; }

void AllocateByEveryFunction() {
  for (void*& block : blocks) block = alloc_preinit();
  family[0] = calloc(100, 7);
  family[1] = realloc(nullptr, 70);
  if (posix_memalign(&family[2], 256, 700) != 0) _exit(70);
  family[3] = aligned_alloc(64, 640);
  family[4] = strdup("from preinit");
  family[5] = alloc_big();
  family[6] = new char[77];
  family[7] = memalign(4096, 10);
  for (void* block : family) {
    if (block == nullptr) _exit(71);
  }
}

// About 0.3 s: the libraries are initialised and main runs meanwhile.
void* RunEarlyThread(void*) {
  const double end = ground_truth::ThreadCpuSeconds() + 0.3;
  while (ground_truth::ThreadCpuSeconds() < end) {
    for (int i = 0; i < 100; ++i) free(alloc_thread());
    thread_blocks += 100;
  }
  return nullptr;
}

void Preinit(int, char** arguments, char**) {
  environment_missing = environ == nullptr;
  if (Is(arguments[1], "heap")) AllocateByEveryFunction();
  if (Is(arguments[1], "thread") &&
      pthread_create(&early_thread, nullptr, RunEarlyThread, nullptr) != 0) {
    _exit(72);
  }
  if (Is(arguments[1], "fork")) early_child = fork();
}

[[gnu::section(".preinit_array"), gnu::used]] void (*preinit)(int, char**, char**) = Preinit;

void UseHeap() {
  for (int i = 0; i < kBlocks; ++i) {
    if (malloc_usable_size(blocks[i]) < kBytes) _exit(73);
    if (i % 2 == 0) free(blocks[i]);
  }
  auto* text = static_cast<char*>(realloc(family[4], 5000));
  printf("kept: %s\n", text);
  free(text);
  family[4] = nullptr;
  delete[] static_cast<char*>(family[6]);
  family[6] = nullptr;
}

// The other half is freed after main, when exit handlers run.
[[gnu::destructor]] void FreeTheRest() {
  for (int i = 1; i < kBlocks; i += 2) free(blocks[i]);
  for (void* block : family) free(block);
}

void JoinThread() {
  pthread_join(early_thread, nullptr);
  fprintf(stderr, "%d\n", thread_blocks);
}

int WaitForChild() {
  if (early_child == 0) return 4;
  int status = 0;
  if (waitpid(early_child, &status, 0) != early_child) return 74;
  printf("child %x\n", static_cast<unsigned>(status));
  return 3;
}

}  // namespace

int main(int, char** arguments) {
  for (int i = 0; i < 10; ++i) alloc_main();
  printf("environment missing in preinit: %d\n", environment_missing);
  const char* error = dlerror();
  printf("error left by a look-up: %s\n", error != nullptr ? error : "none");
  fflush(stdout);
  if (Is(arguments[1], "heap")) UseHeap();
  if (Is(arguments[1], "thread")) JoinThread();
  if (Is(arguments[1], "fork")) return WaitForChild();
  own_state::Print();
  return 3;
}
