// A buffer that grows by half with realloc from 16 bytes to 64 KiB, again and again, as strings and
// arrays do. Prints nanoseconds of CPU time for each realloc, the copying included.
//
//   realloc_growth [REALLOCS]
#include <cstdio>
#include <cstdlib>

#include "tests/bench/programs/call_sites.h"
#include "tests/bench/programs/clock.h"

int main(int argc, char** argv) {
  const long wanted = argc > 1 ? atol(argv[1]) : 2000000;
  long done = 0;
  const double start = ThreadCpuSeconds();
  while (done < wanted) {
    void* buffer = nullptr;
    for (size_t size = 16; size < 65536; size += size / 2, ++done) buffer = Keep(realloc(buffer, size));
    free(buffer);
  }
  printf("%.3f\n", (ThreadCpuSeconds() - start) / static_cast<double>(done) * 1e9);
  return 0;
}
