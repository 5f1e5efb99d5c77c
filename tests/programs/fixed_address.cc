// Linked at a fixed address (-no-pie), and takes the addresses of malloc and free: the program then
// has symbols of these names that stand for jumps to the real functions, as Debian's python3 has.
//
//   fixed_address
//
// Prints {"calls": N}.
#include <cstdio>
#include <cstdlib>

#include "tests/programs/ground_truth.h"

namespace {

constexpr int kCalls = 1000;

using Allocate = void* (*)(size_t);
using Free = void (*)(void*);

[[gnu::noinline]] void alloc_by_address(Allocate allocate, Free release) {
  for (int i = 0; i < kCalls; ++i) release(ground_truth::Kept<char>(allocate(100)));
}

}  // namespace

int main() {
  // Through memory that may change, so that the compiler does not call them by name.
  Allocate volatile allocate = malloc;
  Free volatile release = free;
  alloc_by_address(allocate, release);
  printf("{\"calls\": %d}\n", kCalls);
  return 0;
}
