// Forks while four threads hammer malloc. A child allocates, frees, and ends by _exit.
//
//   stress_forks CHILDREN
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <thread>
#include <vector>

#include "tests/programs/ground_truth.h"

namespace {

constexpr int kHammers = 4;
constexpr int kInChild = 10;

std::atomic<bool> stop{false};
std::atomic<uint64_t> hammered{0};

[[gnu::noinline]] char* alloc_hammer(size_t bytes) {
  return ground_truth::Kept<char>(malloc(bytes));
}
[[gnu::noinline]] char* alloc_child() { return ground_truth::Kept<char>(malloc(64)); }

void Hammer() {
  uint64_t count = 0;
  uint64_t random = count + 1;
  while (!stop.load(std::memory_order_relaxed)) {
    random = ground_truth::NextRandom(random);
    char* block = alloc_hammer(16 + (random >> 54));
    ground_truth::Escape(block);
    free(block);
    if (++count % 512 == 0) usleep(1000);  // the machine is not ours alone
  }
  hammered.fetch_add(count);
}

[[noreturn]] void RunChild() {
  for (int i = 0; i < kInChild; ++i) {
    char* block = alloc_child();
    block[0] = 1;
    ground_truth::Escape(block);
    free(block);
  }
  _exit(7);
}

}  // namespace

int main(int argc, char** argv) {
  const int children = argc > 1 ? atoi(argv[1]) : 1000;
  std::vector<std::thread> hammers;
  for (int i = 0; i < kHammers; ++i) hammers.emplace_back(Hammer);
  int good = 0;
  for (int i = 0; i < children; ++i) {
    const pid_t pid = fork();
    if (pid == 0) RunChild();
    int status = 0;
    if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7) ++good;
  }
  stop.store(true);
  for (std::thread& hammer : hammers) hammer.join();
  printf("{\"children\": %d, \"in_child\": %d, \"hammered\": %" PRIu64 ", \"peak_kib\": %ld}\n",
         good, kInChild, hammered.load(), ground_truth::PeakResidentKib());
  return good == children ? 0 : 1;
}
