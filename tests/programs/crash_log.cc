// Allocates for ever and writes down how often, for a test that kills it at a random moment.
//
//   crash_log LOG [STACKS]    STACKS "many": from tens of thousands of call stacks, so that a
//                             checkpoint has megabytes to write
//
// LOG gets a line "MONOTONIC_NANOS ALLOCATIONS\n" about every 2 ms, before any more is allocated.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <thread>

#include "tests/programs/ground_truth.h"

namespace {

constexpr int kBatch = 200;
constexpr int kDepth = 14;  // of the calls that make many call stacks

std::atomic<uint64_t> allocations{0};

[[gnu::noinline]] char* alloc_logged(size_t bytes) {
  return ground_truth::Kept<char>(malloc(bytes));
}

void AllocateOnce(uint64_t choice) {
  char* block = alloc_logged(16 + choice % 500);
  block[0] = 1;
  ground_truth::Escape(block);
  free(block);
}

// The bits of `path` choose one of two call sites on each level.
[[gnu::noinline]] void Descend(uint64_t path, int depth) {
  if (depth == 0) {
    AllocateOnce(path);
  } else if ((path & 1) != 0) {
    Descend(path >> 1, depth - 1);
  } else {
    Descend(path >> 1, depth - 1);
  }
  ground_truth::Escape(depth);
}

[[noreturn]] void Work(bool many, uint64_t seed) {
  while (true) {
    for (int i = 0; i < kBatch; ++i) {
      seed = ground_truth::NextRandom(seed);
      if (many) {
        Descend(seed >> 40, kDepth);
      } else {
        AllocateOnce(seed >> 40);
      }
    }
    allocations.fetch_add(kBatch);
    usleep(1000);
  }
}

[[noreturn]] void WriteLog(int fd) {
  while (true) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    char line[64];
    const int length = snprintf(
        line, sizeof(line), "%" PRIu64 " %" PRIu64 "\n",
        static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec),
        allocations.load());
    if (write(fd, line, static_cast<size_t>(length)) != length) _exit(1);
    usleep(2000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return 1;
  const bool many = argc > 2 && strcmp(argv[2], "many") == 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) std::thread(Work, many, seed).detach();
  WriteLog(fd);
}
