// Allocates and frees as fast as it can, from one place.
//
//   allocation_storm [ROUNDS]    (of 6,400 blocks)
#include <cinttypes>
#include <cstdio>

#include "tests/programs/ground_truth.h"

namespace {

constexpr size_t kBatch = 64;

[[gnu::noinline]] char* alloc_storm(size_t bytes) {
  return ground_truth::Kept<char>(malloc(bytes));
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 10'000;
  uint64_t calls = 0;
  uint64_t bytes = 0;
  for (int batch = 0; batch < 100 * rounds; ++batch) {
    char* blocks[kBatch];
    for (size_t i = 0; i < kBatch; ++i) {
      const size_t size = 16 + 7 * i;
      blocks[i] = alloc_storm(size);
      blocks[i][0] = 1;
      bytes += size;
    }
    for (char* block : blocks) free(block);
    calls += kBatch;
  }
  printf("{\"site\": \"alloc_storm\", \"allocations\": %" PRIu64 ", \"bytes_allocated\": %" PRIu64
         "}\n",
         calls, bytes);
  return 0;
}
