// Row P42: threads that no hook of a profiler sees start.
//
//   threads_unseen early     one that a library's constructor started
//   threads_unseen raw       one made by clone(), which calls nothing of libc, 0.3 s of work
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string_view>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

extern std::atomic<int> early_thread_may_work;
extern pthread_t early_thread;

namespace {

constexpr size_t kCells = size_t{1} << 17;
constexpr size_t kStackBytes = size_t{64} << 10;
alignas(64) char raw_stack[kStackBytes];
volatile int raw_tid = 0;  // cleared by the kernel when the thread has ended

[[gnu::noinline]] volatile uint64_t* alloc_for_raw_thread() {
  return ground_truth::Kept<uint64_t>(calloc(kCells, sizeof(uint64_t)));
}

// Shares the main thread's thread pointer, so it must not call libc.
int RawThread(void* argument) {
  auto* cells = static_cast<volatile uint64_t*>(argument);
  for (int round = 0; round < 2500; ++round) {
    for (size_t i = 0; i < kCells; ++i) cells[i] = cells[i] + 1;
  }
  return 0;
}

int Raw() {
  volatile uint64_t* cells = alloc_for_raw_thread();
  auto* tid = const_cast<int*>(&raw_tid);
  raw_tid = 1;
  clone(RawThread, raw_stack + kStackBytes,
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
            CLONE_CHILD_CLEARTID,
        const_cast<uint64_t*>(cells), nullptr, nullptr, tid);
  while (raw_tid != 0) usleep(1000);
  printf("%lu rounds\n", static_cast<unsigned long>(cells[kCells / 2]));
  return 0;
}

int Early() {
  early_thread_may_work = 1;
  pthread_join(early_thread, nullptr);
  printf("early thread joined\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  int status = 2;
  if (what == "raw") {
    early_thread_may_work = 1;
    status = Raw();
    pthread_join(early_thread, nullptr);
  }
  if (what == "early") status = Early();
  own_state::Print();
  return status;
}
