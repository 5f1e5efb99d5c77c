// Row P40: fork of a process whose page tables are big takes longer than a sampling interval.
//
//   fork_big MIB      touches that much memory in blocks of 4,000 bytes, forks six children
#include <cstdio>
#include <vector>

#include "tests/programs/pitfalls/children.h"
#include "tests/programs/pitfalls/churn.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

[[gnu::noinline]] void* alloc_big_heap(size_t bytes) {
  return ground_truth::Kept<void>(calloc(1, bytes));
}
[[gnu::noinline]] void* alloc_in_child(size_t bytes) {
  return ground_truth::Kept<void>(malloc(bytes));
}

}  // namespace

int main(int argc, char** argv) {
  constexpr size_t kBytes = 4000;
  const size_t mib = static_cast<size_t>(argc > 1 ? atoi(argv[1]) : 64);
  std::vector<void*> blocks(mib * 1024 * 1024 / kBytes);
  for (void*& block : blocks) block = alloc_big_heap(kBytes);
  int ended = 0;
  for (int i = 0; i < 6; ++i) {
    ended += children::Run([&blocks] {
               for (void* block : blocks) free(block);
               churn::Repeat(alloc_in_child, 100, 40);
               return 3;
             }) == 3;
  }
  printf("%zu blocks, %d children\n", blocks.size(), ended);
  own_state::Print();
  return 0;
}
