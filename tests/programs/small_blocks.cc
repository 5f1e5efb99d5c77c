// Blocks of 8 and 16 bytes, which some allocators put two or four to 32 bytes, from malloc and from
// operator new, half of them freed.
//
//   small_blocks
//
// Prints {"calls": N, "kept": bytes of each site that are live at the end}.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/programs/ground_truth.h"

namespace {

constexpr int kCalls = 10000;

[[gnu::noinline]] char* small_malloc() { return ground_truth::Kept<char>(malloc(8)); }
[[gnu::noinline]] char* small_new() { return ground_truth::Kept<char>(new char[16]); }

}  // namespace

int main() {
  std::vector<char*> from_malloc;
  std::vector<char*> from_new;
  for (int i = 0; i < kCalls; ++i) {
    from_malloc.push_back(small_malloc());
    from_new.push_back(small_new());
  }
  for (int i = 0; i < kCalls; i += 2) {
    free(from_malloc[i]);
    delete[] from_new[i];
  }
  printf("{\"calls\": %d, \"kept\": {\"small_malloc\": %d, \"small_new\": %d}}\n", kCalls,
         kCalls / 2 * 8, kCalls / 2 * 16);
  return 0;
}
