// Random updates of a global array dominate; a heap array of the same size that is read in order
// does not. Only the variable's name, from the symbol table, tells which memory is slow.
//
//   hot_static_array [SCALE]    SCALE times as many updates (default 1)
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr size_t kCells = size_t{1} << 23;  // 64 MiB each
constexpr size_t kUpdatesPerScale = 90'000'000;

}  // namespace

uint64_t g_histogram[kCells];

namespace {

[[gnu::noinline]] uint64_t* AllocateInput() {
  void* input = calloc(kCells, sizeof(uint64_t));
  if (input == nullptr) exit(1);
  return static_cast<uint64_t*>(input);
}

[[gnu::noinline]] void CountInto(uint64_t* histogram, const uint64_t* input, size_t updates) {
  uint64_t state = 88172645463325252;  // xorshift64: any non-zero start
  for (size_t i = 0; i < updates; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    histogram[(state + input[i % kCells]) % kCells] += 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const size_t updates = kUpdatesPerScale * static_cast<size_t>(argc > 1 ? atoi(argv[1]) : 1);
  uint64_t* input = AllocateInput();
  CountInto(g_histogram, input, updates);
  uint64_t highest = 0;
  for (uint64_t count : g_histogram) highest = count > highest ? count : highest;
  printf("hot_static_array: %zu updates, highest count %llu\n", updates,
         static_cast<unsigned long long>(highest));
  free(input);
  return 0;
}
