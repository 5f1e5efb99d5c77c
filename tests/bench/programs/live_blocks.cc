// Allocates blocks of 64 bytes from a number of call stacks and ends with all of them live. Prints how
// many bytes became resident for each block, then the time (CLOCK_MONOTONIC, seconds) right before exit.
//
//   live_blocks [BLOCKS] [STACKS]
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/bench/programs/call_sites.h"
#include "tests/bench/programs/clock.h"

namespace {

constexpr unsigned kDepth = 14;  // 16,384 call stacks

// Two call sites in every level; the bits of `path` choose.
[[gnu::noinline]] void* Descend(unsigned depth, unsigned path) {
  if (depth == 0) return Keep(malloc(64));
  if ((path & 1) != 0) return Keep(Descend(depth - 1, path >> 1));
  void* block = Keep(Descend(depth - 1, path >> 1));
  asm volatile("nop");
  return block;
}

double ResidentBytes() {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == nullptr || fscanf(file, "%*d %ld", &pages) != 1) abort();
  fclose(file);
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned blocks = argc > 1 ? static_cast<unsigned>(atoi(argv[1])) : 1000000;
  const unsigned stacks = argc > 2 ? static_cast<unsigned>(atoi(argv[2])) : 16;
  const double before = ResidentBytes();
  for (unsigned i = 0; i < blocks; ++i) memset(Descend(kDepth, i % stacks), 1, 64);
  printf("%.3f ", (ResidentBytes() - before) / blocks);
  printf("%.9f\n", WallSeconds());
  fflush(stdout);
  exit(0);
}
