// Sites with known numbers of blocks, for sample_bytes=: one size, many sizes, big blocks, frees in
// another thread, realloc, and a child of fork that frees what it inherited.
//
//   sampled_blocks
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/programs/ground_truth.h"

namespace {

using ground_truth::Kept;

struct Counts {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t bytes_allocated = 0;
  uint64_t bytes_live = 0;
};
std::map<std::string, Counts> truth;

using Allocate = char* (*)(size_t);
// The `nop`s keep them from being one function.
[[gnu::noinline]] char* alloc_small(size_t bytes) { return Kept<char>(malloc(bytes)); }
[[gnu::noinline]] char* alloc_mixed(size_t bytes) {
  asm volatile("nop");
  return Kept<char>(malloc(bytes));
}
[[gnu::noinline]] char* alloc_large(size_t bytes) {
  asm volatile("nop\nnop");
  return Kept<char>(malloc(bytes));
}
[[gnu::noinline]] char* alloc_freed_elsewhere(size_t bytes) {
  asm volatile("nop\nnop\nnop");
  return Kept<char>(malloc(bytes));
}
[[gnu::noinline]] char* alloc_to_grow(size_t bytes) {
  asm volatile("nop\nnop\nnop\nnop");
  return Kept<char>(malloc(bytes));
}
[[gnu::noinline]] char* grow(char* block, size_t bytes) {
  return Kept<char>(realloc(block, bytes));
}

void CountAllocation(Counts& counts, size_t bytes) {
  ++counts.allocations;
  counts.bytes_allocated += bytes;
  counts.bytes_live += bytes;
}
void CountFree(Counts& counts, size_t bytes) {
  ++counts.frees;
  counts.bytes_live -= bytes;
}

// `count` blocks of size_of(i); those with live(i) stay.
template <typename SizeOf, typename Lives>
std::vector<char*> Make(const char* name, Allocate allocate, size_t count, SizeOf size_of,
                        Lives lives) {
  std::vector<char*> live;
  live.reserve(count);
  Counts& counts = truth[name];
  for (size_t i = 0; i < count; ++i) {
    char* block = allocate(size_of(i));
    CountAllocation(counts, size_of(i));
    if (lives(i)) {
      live.push_back(block);
      continue;
    }
    free(block);
    CountFree(counts, size_of(i));
  }
  return live;
}

void FreeElsewhere() {
  const auto all = [](size_t) { return true; };
  const auto size_of = [](size_t) { return size_t{64}; };
  auto blocks = Make("alloc_freed_elsewhere", alloc_freed_elsewhere, 100'000, size_of, all);
  std::thread([&blocks] {
    for (size_t i = 0; i < blocks.size() / 2; ++i) free(blocks[i]);
  }).join();
  Counts& counts = truth["alloc_freed_elsewhere"];
  for (size_t i = 0; i < blocks.size() / 2; ++i) CountFree(counts, 64);
}

void Grow() {
  Counts& small = truth["alloc_to_grow"];
  Counts& grown = truth["grow"];
  for (int i = 0; i < 50'000; ++i) {
    char* block = alloc_to_grow(24);
    CountAllocation(small, 24);
    block = grow(block, 160);
    CountFree(small, 24);
    CountAllocation(grown, 160);
    if (i % 2 == 0) continue;
    free(block);
    CountFree(grown, 160);
  }
}

// A child that frees a quarter of the small blocks.
pid_t ForkAndFree(const std::vector<char*>& blocks) {
  const pid_t pid = fork();
  if (pid < 0) abort();
  if (pid == 0) {
    for (size_t i = 0; i < blocks.size(); i += 4) free(blocks[i]);
    exit(0);
  }
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || status != 0) abort();
  return pid;
}

}  // namespace

int main() {
  const auto small = Make(
      "alloc_small", alloc_small, 200'000, [](size_t) { return size_t{32}; },
      [](size_t i) { return i % 2 == 0; });
  const auto mixed = Make(
      "alloc_mixed", alloc_mixed, 60'000, [](size_t i) { return i * 7919 % 1500; },
      [](size_t i) { return i % 3 != 0; });
  const auto large = Make(
      "alloc_large", alloc_large, 500, [](size_t i) { return 4096 + i; },
      [](size_t i) { return i % 5 == 0; });
  FreeElsewhere();
  Grow();
  const pid_t child = ForkAndFree(small);
  printf("{\"child\": %d, \"live_small\": %zu, \"sites\": {", child, small.size());
  const char* separator = "";
  for (const auto& [name, counts] : truth) {
    printf("%s\"%s\": {\"allocations\": %" PRIu64 ", \"frees\": %" PRIu64
           ", \"bytes_allocated\": %" PRIu64 ", \"bytes_live\": %" PRIu64 "}",
           separator, name.c_str(), counts.allocations, counts.frees, counts.bytes_allocated,
           counts.bytes_live);
    separator = ", ";
  }
  printf("}}\n");
  return large.empty() || mixed.empty() ? 1 : 0;
}
