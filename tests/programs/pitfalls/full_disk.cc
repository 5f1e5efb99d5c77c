// Rows P82, P83: the disk is full, for the program and for the profile.
//
//   full_disk    in a small file system: writes until nothing more fits, writes to a mapped file
//   that
//                has no blocks, and makes room again
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

sigjmp_buf after_bus_error;

[[gnu::noinline]] void* alloc_on_full_disk() { return ground_truth::Kept<void>(malloc(500)); }

void Allocate(int count) {
  for (int i = 0; i < count; ++i) alloc_on_full_disk();
}

void AllocateInThreads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 100; ++i) threads.emplace_back(Allocate, 1);
  for (std::thread& thread : threads) thread.join();
}

// The same in every run: how full the file system was before does not matter.
void FillUp() {
  const int fd = open("filler", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const std::string page(4096, 'f');
  while (write(fd, page.data(), page.size()) > 0) {
  }
  printf("full: errno %d\n", errno);
  close(fd);
}

// A store to a hole of a mapped file needs a block: without one the program's own handler runs.
void StoreWithoutSpace() {
  struct sigaction action = {};
  action.sa_handler = [](int) { siglongjmp(after_bus_error, 1); };
  sigaction(SIGBUS, &action, nullptr);
  const int fd = open("mapped", O_RDWR | O_CREAT, 0644);
  if (fd < 0 || ftruncate(fd, 16384) != 0) {
    printf("no mapped file: errno %d\n", errno);
    return;
  }
  auto* bytes = static_cast<volatile char*>(mmap(nullptr, 16384, PROT_WRITE, MAP_SHARED, fd, 0));
  close(fd);
  if (sigsetjmp(after_bus_error, 1) == 0) {
    bytes[8192] = 1;
    printf("stored\n");
  } else {
    printf("SIGBUS, as it should be\n");
  }
}

}  // namespace

int main() {
  Allocate(100);
  usleep(150'000);  // past the first checkpoint
  FillUp();
  AllocateInThreads();
  usleep(1'000'000);  // past the second one, which has all the threads to tell of and finds no room
  StoreWithoutSpace();
  unlink("filler");
  Allocate(100);
  unlink("mapped");
  own_state::Print();
  return 3;
}
