// Many small blocks that are all live at once, freed in another order than they were made.
//
//   live_blocks BLOCKS
#include <cinttypes>
#include <cstdio>
#include <vector>

#include "tests/programs/ground_truth.h"

namespace {

constexpr size_t kBytes = 48;

[[gnu::noinline]] char* alloc_live(size_t bytes) { return ground_truth::Kept<char>(malloc(bytes)); }

}  // namespace

int main(int argc, char** argv) {
  const size_t count = argc > 1 ? strtoull(argv[1], nullptr, 10) : 10'000'000;
  std::vector<char*> blocks(count);
  for (char*& block : blocks) {
    block = alloc_live(kBytes);
    block[0] = 1;
  }
  // Odd ones first: half of the frees leave both neighbours live.
  for (size_t i = 1; i < count; i += 2) free(blocks[i]);
  for (size_t i = 0; i < count; i += 2) free(blocks[i]);
  printf("{\"blocks\": %zu, \"bytes\": %zu, \"peak_kib\": %ld}\n", count, kBytes,
         ground_truth::PeakResidentKib());
  return 0;
}
