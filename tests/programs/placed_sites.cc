// Blocks of several sites, and what memory policy the kernel has for them: what `memagent run
// --place` does to a program, seen by the program.
//
//   placed_sites once | reuse | realloc | remap | own | threads | many | child
//
// Prints one line of JSON. Modes are the kernel's numbers (linux/mempolicy.h), -1: it does not say.
// `wrong` counts what must not happen: contents that changed, errno that did.
#include <linux/mempolicy.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/programs/ground_truth.h"

namespace {

constexpr size_t kFieldBytes = size_t{8} << 20;
constexpr size_t kPartBytes = size_t{64} << 10;  // from the heap: below malloc's limit for mmap
constexpr size_t kPageBytes = 4096;

std::atomic<long> wrong = 0;

void Expect(bool right) {
  if (!right) ++wrong;
}

// Of different sizes, or the compiler makes one function of them.
[[gnu::noinline]] char* AllocateField(size_t bytes) {
  errno = 42;
  char* block = ground_truth::Kept<char>(malloc(bytes));
  Expect(errno == 42 && block != nullptr);
  return block;
}
[[gnu::noinline]] char* AllocateOther(size_t bytes) {
  char* block = ground_truth::Kept<char>(malloc(bytes + 16));
  Expect(block != nullptr);
  return block;
}
[[gnu::noinline]] char* MapField(size_t bytes) {
  return ground_truth::Kept<char>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
// Here to be named by a rule: nobody calls it.
[[gnu::noinline, gnu::used]] char* NeverCalled(size_t bytes) {
  return ground_truth::Kept<char>(malloc(bytes + 32));
}

// Of the page in the middle of a block.
int ModeOf(const char* block, size_t bytes) {
  int mode = -1;
  unsigned long nodes[16] = {};
  const long result =
      syscall(SYS_get_mempolicy, &mode, nodes, 1024, block + bytes / 2, MPOL_F_ADDR);
  return result == 0 ? mode : -1;
}

void Fill(char* block, size_t bytes) {
  for (size_t i = 0; i < bytes; i += kPageBytes) block[i] = static_cast<char>(i >> 12);
}
void Check(const char* block, size_t bytes) {
  for (size_t i = 0; i < bytes; i += kPageBytes) Expect(block[i] == static_cast<char>(i >> 12));
}
void Free(char* block) {
  errno = 43;
  free(block);
  Expect(errno == 43);
}

[[gnu::noinline]] void Once() {
  char* field = AllocateField(kFieldBytes);
  char* other = AllocateOther(kFieldBytes);
  char* map = MapField(kFieldBytes);
  const int before = ModeOf(field, kFieldBytes);
  for (char* block : {field, other, map}) Fill(block, kFieldBytes);
  for (char* block : {field, other, map}) Check(block, kFieldBytes);
  printf("\"before_touch\": %d, \"field\": %d, \"other\": %d, \"map\": %d, ", before,
         ModeOf(field, kFieldBytes), ModeOf(other, kFieldBytes), ModeOf(map, kFieldBytes));
  Free(field);
  Free(other);
  munmap(map, kFieldBytes);
}

// Memory that malloc gives out again, with its pages.
[[gnu::noinline]] void Reuse() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  char* first = AllocateField(kPartBytes);
  char* guard = AllocateOther(kPartBytes);  // or the block would melt into the end of the heap
  const int mode = ModeOf(first, kPartBytes);
  Fill(first, kPartBytes);
  const auto place = reinterpret_cast<uintptr_t>(first);
  Free(first);
  char* other = AllocateOther(kPartBytes - 16);
  const int other_mode = ModeOf(other, kPartBytes);
  const bool same = reinterpret_cast<uintptr_t>(other) == place;
  Free(other);
  char* again = AllocateField(kPartBytes);
  printf("\"field\": %d, \"same_place\": %d, \"other\": %d, \"again\": %d, ", mode, same ? 1 : 0,
         other_mode, ModeOf(again, kPartBytes));
  Free(again);
  Free(guard);
}

[[gnu::noinline]] void Realloc() {
  char* field = AllocateField(kPartBytes);
  Fill(field, kPartBytes);
  const int mode = ModeOf(field, kPartBytes);
  char* grown = ground_truth::Kept<char>(realloc(field, kFieldBytes));
  Check(grown, kPartBytes);
  Fill(grown, kFieldBytes);
  const int grown_mode = ModeOf(grown, kFieldBytes);
  size_t too_much = SIZE_MAX / 4;
  char* kept = grown;
  ground_truth::Escape(too_much);
  ground_truth::Escape(kept);
  const char* failed = ground_truth::Kept<char>(realloc(grown, too_much));
  Expect(failed == nullptr && errno == ENOMEM);
  grown = kept;
  Check(grown, kFieldBytes);
  printf("\"field\": %d, \"grown\": %d, \"after_failure\": %d, ", mode, grown_mode,
         ModeOf(grown, kFieldBytes));
  Free(grown);
}

// A mapping that is to be placed in parts is still one for the program.
[[gnu::noinline]] void Remap() {
  char* map = MapField(kFieldBytes);
  Fill(map, kFieldBytes);
  char* moved = ground_truth::Kept<char>(mremap(map, kFieldBytes, 2 * kFieldBytes, MREMAP_MAYMOVE));
  Expect(moved != MAP_FAILED);
  Check(moved, kFieldBytes);
  munmap(moved, 2 * kFieldBytes);
}

// The kernel's flags of the mapping that holds the middle of a block: "hg" huge pages wanted, "nh"
// not.
std::string FlagsOf(const char* block, size_t bytes) {
  const auto wanted = reinterpret_cast<uintptr_t>(block + bytes / 2);
  std::ifstream smaps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long start = 0;
    unsigned long end = 0;
    if (sscanf(line.c_str(), "%lx-%lx ", &start, &end) == 2) {
      inside = start <= wanted && wanted < end;
    } else if (inside && line.rfind("VmFlags:", 0) == 0) {
      return line.substr(8);
    }
  }
  return "";
}

void BindToFirstNode(char* block, size_t bytes) {
  unsigned long node = 1;
  char* const page = block + kPageBytes - reinterpret_cast<uintptr_t>(block) % kPageBytes;
  syscall(SYS_mbind, page, bytes - 2 * kPageBytes, 2 /* MPOL_BIND */, &node, 64, 0);
}
// By the function, then past it; where the kernel has none it refuses both.
void WantHugePages(char* block, size_t bytes) {
  char* const page = block + kPageBytes - reinterpret_cast<uintptr_t>(block) % kPageBytes;
  madvise(page, bytes - 2 * kPageBytes, MADV_HUGEPAGE);
  syscall(SYS_madvise, page, bytes - 2 * kPageBytes, MADV_HUGEPAGE);
}

// The program places its memory by itself.
[[gnu::noinline]] void Own() {
  char* field = AllocateField(kFieldBytes);
  char* map = MapField(kFieldBytes);
  char* other = AllocateOther(kFieldBytes);
  for (char* block : {field, map}) BindToFirstNode(block, kFieldBytes);
  for (char* block : {field, other}) WantHugePages(block, kFieldBytes);
  printf("\"field\": %d, \"map\": %d, \"field_flags\": \"%s\", \"other_flags\": \"%s\", ",
         ModeOf(field, kFieldBytes), ModeOf(map, kFieldBytes), FlagsOf(field, kFieldBytes).c_str(),
         FlagsOf(other, kFieldBytes).c_str());
  for (char* block : {field, map, other}) Fill(block, kFieldBytes);
  for (char* block : {field, map, other}) Check(block, kFieldBytes);
  Free(field);
  Free(other);
  munmap(map, kFieldBytes);
}

[[gnu::noinline]] void AllocateAndFree() {
  for (int i = 0; i < 500; ++i) {
    char* field = AllocateField(kPartBytes);
    Fill(field, kPartBytes);
    char* other = AllocateOther(kPartBytes);
    Fill(other, kPartBytes);
    Check(field, kPartBytes);
    Free(field);
    Check(other, kPartBytes);
    Free(other);
  }
}

[[gnu::noinline]] void Threads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(AllocateAndFree);
  for (std::thread& thread : threads) thread.join();
}

// More than memagent places at the same time.
[[gnu::noinline]] void Many() {
  constexpr size_t kBlocks = 12000;
  std::vector<char*> blocks;
  for (size_t i = 0; i < kBlocks; ++i) blocks.push_back(AllocateField(kPartBytes));
  for (char* block : blocks) *block = 1;
  void* map = mmap(nullptr, kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Expect(map != MAP_FAILED);
  for (char* block : blocks) Free(block);
}

[[gnu::noinline]] void Child() {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    char* field = AllocateField(kFieldBytes);
    _exit(10 + ModeOf(field, kFieldBytes));
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("\"field\": %d, ", WEXITSTATUS(status) - 10);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  printf("{");
  if (what == "once") Once();
  if (what == "reuse") Reuse();
  if (what == "realloc") Realloc();
  if (what == "remap") Remap();
  if (what == "own") Own();
  if (what == "threads") Threads();
  if (what == "many") Many();
  if (what == "child") Child();
  printf("\"wrong\": %ld}\n", wrong.load());
  return 3;
}
