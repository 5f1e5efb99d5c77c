// Enters a new user namespace in the middle of its work, as sandboxes do. The kernel allows that only
// to a process with one thread.
//
//   user_namespace [SECONDS]    CPU time on each side of the call (default 0.4)
//
// Prints {"entered": true or false, "error": errno}.
#include <errno.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>

#include "tests/programs/ground_truth.h"

namespace {

constexpr size_t kCells = size_t{1} << 20;

[[gnu::noinline]] uint64_t* alloc_before() {
  return ground_truth::Kept<uint64_t>(malloc(kCells * sizeof(uint64_t)));
}
[[gnu::noinline]] uint64_t* alloc_after() {
  uint64_t* block = ground_truth::Kept<uint64_t>(malloc(kCells * sizeof(uint64_t)));
  asm volatile("nop");  // makes the bodies differ: identical ones would be folded into one
  return block;
}

[[gnu::noinline]] void Write(uint64_t* cells, double seconds) {
  const double end = ground_truth::ThreadCpuSeconds() + seconds;
  uint64_t value = 1;
  while (ground_truth::ThreadCpuSeconds() < end) {
    for (size_t i = 0; i < kCells; ++i) cells[i] = value++;
    asm volatile("" : : "r"(cells) : "memory");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = ground_truth::SecondsArgument(argc, argv, 1, 0.4);
  Write(alloc_before(), seconds);
  const int result = unshare(CLONE_NEWUSER);
  const int error = errno;
  Write(alloc_after(), seconds);
  const bool entered = result == 0;
  printf("{\"entered\": %s, \"error\": %d}\n", entered ? "true" : "false", entered ? 0 : error);
  return 0;
}
