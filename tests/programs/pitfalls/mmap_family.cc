// Rows P64, P65, P66: what is mapped at the end, counted by the kernel, and what memagent says.
//
//   mmap_family cases      one mapping for each way of changing it, from a function of its own
//   mmap_family random     4,000 random calls in one range: overlays, holes, moves, copies
//   mmap_family raw        mapped, moved and unmapped by syscall() and by instructions of its own
//   mmap_family ring       a ring of pages mapped twice in a row
//   mmap_family break      brk and sbrk up and down; System V shared memory
//
// Prints what /proc/self/maps says is mapped in the range that only this program uses.
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

using ground_truth::Kept;

constexpr size_t kPage = 4096;
constexpr size_t kRangePages = 512;
char* const range = reinterpret_cast<char*>(uintptr_t{0x100000000000});  // far from all else
constexpr int kReadWrite = PROT_READ | PROT_WRITE;
constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;

[[gnu::noinline]] char* alloc_map(size_t page, size_t size, int flags = kPrivate) {
  return Kept<char>(mmap(range + page * kPage, size, kReadWrite, flags | MAP_FIXED, -1, 0));
}
[[gnu::noinline]] char* alloc_moved(char* old, size_t old_size, size_t size, int flags, char* to) {
  return Kept<char>(mremap(old, old_size, size, flags, to));
}
[[gnu::noinline]] char* alloc_raw(size_t page, size_t size) {
  return Kept<char>(reinterpret_cast<void*>(
      syscall(SYS_mmap, range + page * kPage, size, kReadWrite, kPrivate | MAP_FIXED, -1, 0)));
}

// At the end of a function whose last call would else be a jump: it stays on the stack.
void Stay() { asm volatile("" : : : "memory"); }

size_t MappedBytes(const char* low, const char* high) {
  size_t bytes = 0;
  FILE* file = fopen("/proc/self/maps", "r");
  char line[512];
  while (file != nullptr && fgets(line, sizeof(line), file) != nullptr) {
    char* rest = nullptr;
    const uintptr_t start = strtoull(line, &rest, 16);
    const uintptr_t end = strtoull(rest + 1, nullptr, 16);
    if (start >= reinterpret_cast<uintptr_t>(low) && end <= reinterpret_cast<uintptr_t>(high)) {
      bytes += end - start;
    }
  }
  if (file != nullptr) fclose(file);
  return bytes;
}

void PrintMapped() { printf("mapped %zu\n", MappedBytes(range, range + 2 * kRangePages * kPage)); }

// Leaves of 1, 2, 4, ... pages what each function's comment says.
[[gnu::noinline]] void alloc_overlaid() {  // 8 of the first mapping, 8 of the second
  alloc_map(0, 16 * kPage);
  alloc_map(4, 8 * kPage);
  Stay();
}
[[gnu::noinline]] void alloc_holed() {  // 6 in three pieces
  char* block = alloc_map(20, 10 * kPage);
  munmap(block + 2 * kPage, kPage);
  munmap(block + 6 * kPage, 3 * kPage - 50);  // the kernel rounds up
  munmap(block + 6 * kPage, 3 * kPage);       // a hole already
  Stay();
}
[[gnu::noinline]] void alloc_grown() {  // 7
  alloc_moved(alloc_map(40, 3 * kPage), 3 * kPage, 7 * kPage, 0, nullptr);
  Stay();
}
[[gnu::noinline]] void alloc_shrunk() {  // 2
  alloc_moved(alloc_map(50, 5 * kPage), 5 * kPage, 2 * kPage, 0, nullptr);
  Stay();
}
[[gnu::noinline]] void alloc_sent() {  // 4, elsewhere
  char* block = alloc_map(60, 4 * kPage);
  alloc_moved(block, 4 * kPage, 4 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, range + 70 * kPage);
  Stay();
}
[[gnu::noinline]] void alloc_part_sent() {  // 6 where they were, 2 elsewhere
  char* block = alloc_map(80, 8 * kPage);
  alloc_moved(block + 3 * kPage, 2 * kPage, 2 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED,
              range + 90 * kPage);
  Stay();
}
[[gnu::noinline]] void alloc_left_behind() {  // 3 and 3: the pages move, the old range stays
  char* block = alloc_map(100, 3 * kPage);
  alloc_moved(block, 3 * kPage, 3 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
              range + 110 * kPage);
  Stay();
}
[[gnu::noinline]] void alloc_copied() {  // 5 and 5: old size 0 maps shared memory a second time
  char* block = alloc_map(120, 5 * kPage, MAP_SHARED | MAP_ANONYMOUS);
  strcpy(block, "shared");
  const char* copy =
      alloc_moved(block, 0, 5 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, range + 130 * kPage);
  printf("copy %s\n", copy);
  Stay();
}
[[gnu::noinline]] void alloc_refused() {  // nothing: every call fails
  errno = 0;
  printf("refused %d",
         alloc_moved(range + 300 * kPage, kPage, 2 * kPage, 0, nullptr) == MAP_FAILED);
  printf(" errno %d,", errno);
  printf(" %d", munmap(range + 1, kPage));
  printf(" errno %d\n", errno);
  Stay();
}

void Cases() {
  alloc_overlaid();
  alloc_holed();
  alloc_grown();
  alloc_shrunk();
  alloc_sent();
  alloc_part_sent();
  alloc_left_behind();
  alloc_copied();
  alloc_refused();
}

[[gnu::noinline]] void alloc_random() {
  uint64_t state = 42;
  const auto random = [&state](uint64_t limit) {
    state = ground_truth::NextRandom(state);
    return (state >> 33) % limit;
  };
  for (int i = 0; i < 4000; ++i) {
    if (i % 100 == 0) usleep(2000);  // what comes faster than it can be noted is counted as lost
    const size_t page = random(kRangePages);
    const size_t size = (random(16) + 1) * kPage - random(3) * 100;
    char* const start = range + page * kPage;
    char* const elsewhere = range + random(kRangePages) * kPage;
    constexpr int kFixed = MREMAP_MAYMOVE | MREMAP_FIXED;
    switch (random(7)) {
      case 0:
        alloc_map(page, size, random(3) == 0 ? MAP_SHARED | MAP_ANONYMOUS : kPrivate);
        break;
      case 1:
        alloc_map(page, size);
        break;
      case 2:
        munmap(start, size);
        break;
      case 3:
        alloc_moved(start, size, size, kFixed, elsewhere);
        break;
      case 4:
        alloc_moved(start, size, size, kFixed | MREMAP_DONTUNMAP, elsewhere);
        break;
      case 5:
        alloc_moved(start, size, (random(20) + 1) * kPage, random(2) == 0 ? 0 : kFixed, elsewhere);
        break;
      default:
        alloc_moved(start, 0, size, kFixed, elsewhere);
    }
  }
}

// By an instruction of the program: no hook of anybody sees it.
long OwnSyscall(long number, const void* a, size_t b) {
  long result = number;
  asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b) : "rcx", "r11", "memory");
  return result;
}

[[gnu::noinline]] void alloc_and_unmap_unseen() {  // 3 of 10 stay
  char* block = alloc_map(200, 10 * kPage);
  OwnSyscall(SYS_munmap, block, 7 * kPage);
  Stay();
}

void Raw() {
  char* block = alloc_raw(0, 10 * kPage);
  syscall(SYS_munmap, block, 4 * kPage);
  block = alloc_raw(20, 6 * kPage);
  syscall(SYS_mremap, block, 6 * kPage, 6 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED,
          range + 40 * kPage);
  block[20 * kPage] = 1;
  alloc_and_unmap_unseen();
}

// Both halves are the same pages: what is written past the end is at the start.
[[gnu::noinline]] void alloc_ring() {
  constexpr size_t kRing = 8 * kPage;
  const int fd = memfd_create("ring", MFD_CLOEXEC);
  if (ftruncate(fd, kRing) != 0) abort();
  char* whole = alloc_map(0, 2 * kRing);
  for (const size_t half : {size_t{0}, kRing}) {
    void* part = Kept<void>(mmap(whole + half, kRing, kReadWrite, MAP_SHARED | MAP_FIXED, fd, 0));
    if (part == MAP_FAILED) abort();
  }
  close(fd);
  for (size_t i = 0; i < 2 * kRing; ++i) whole[i] = static_cast<char>(i / kRing + 1);
  printf("ring %d %d\n", whole[0], whole[kRing]);
}

[[gnu::noinline]] char* alloc_break(intptr_t bytes) { return Kept<char>(sbrk(bytes)); }
[[gnu::noinline]] char* alloc_segment(int id) { return Kept<char>(shmat(id, nullptr, 0)); }

// 110,000 bytes of break stay, of 240,000; one segment of three.
void Break() {
  char* first = alloc_break(100000);
  memset(first, 1, 100000);
  alloc_break(-30000);
  alloc_break(140000);
  printf("brk %d\n", brk(first + 110000));
  printf("grown by %td\n", static_cast<char*>(sbrk(0)) - first);
  const int id = shmget(IPC_PRIVATE, 5 * kPage - 100, IPC_CREAT | 0600);
  char* kept = alloc_segment(id);
  for (int i = 0; i < 2; ++i) printf("shmdt %d\n", shmdt(alloc_segment(id)));
  shmctl(id, IPC_RMID, nullptr);
  strcpy(kept, "segment");
  printf("%s\n", kept);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "cases") Cases();
  if (what == "random") alloc_random();
  if (what == "raw") Raw();
  if (what == "ring") alloc_ring();
  if (what == "break") Break();
  PrintMapped();
  own_state::Print();
  return 0;
}
