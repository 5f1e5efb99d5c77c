// Short threads, a few at a time, then many that live at once. Half of what a short thread
// allocates is freed by the main thread after it ended.
//
//   stress_threads SHORT LIVE
#include <barrier>
#include <cstdio>
#include <thread>
#include <vector>

#include "tests/programs/ground_truth.h"

namespace {

constexpr int kAtOnce = 8;
constexpr int kBlocks = 100;

[[gnu::noinline]] char* alloc_short(size_t bytes) {
  return ground_truth::Kept<char>(malloc(bytes));
}
[[gnu::noinline]] char* alloc_live() { return ground_truth::Kept<char>(malloc(1024)); }

using Blocks = char* [kBlocks];

void RunShort(Blocks& blocks) {
  for (int i = 0; i < kBlocks; ++i) {
    blocks[i] = alloc_short(static_cast<size_t>(32 + i));
    blocks[i][0] = 1;
    if (i % 2 != 0) free(blocks[i]);
  }
}

void RunAllShort(int threads) {
  static Blocks blocks[kAtOnce];
  for (int done = 0; done < threads; done += kAtOnce) {
    std::vector<std::thread> batch;
    for (Blocks& mine : blocks) batch.emplace_back(RunShort, std::ref(mine));
    for (std::thread& thread : batch) thread.join();
    for (Blocks& mine : blocks) {
      for (int i = 0; i < kBlocks; i += 2) free(mine[i]);
    }
  }
}

void RunLive(std::barrier<>& all_there) {
  char* blocks[kBlocks];
  for (char*& block : blocks) {
    block = alloc_live();
    block[0] = 1;
  }
  all_there.arrive_and_wait();
  for (char* block : blocks) free(block);
}

}  // namespace

int main(int argc, char** argv) {
  const int wanted = argc > 1 ? atoi(argv[1]) : 2000;
  const int short_threads = (wanted + kAtOnce - 1) / kAtOnce * kAtOnce;
  const int live_threads = argc > 2 ? atoi(argv[2]) : 500;
  RunAllShort(short_threads);
  std::barrier<> all_there(live_threads);
  std::vector<std::thread> threads;
  for (int i = 0; i < live_threads; ++i) threads.emplace_back(RunLive, std::ref(all_there));
  for (std::thread& thread : threads) thread.join();
  printf("{\"short_threads\": %d, \"live_threads\": %d, \"blocks_each\": %d, \"peak_kib\": %ld}\n",
         short_threads, live_threads, kBlocks, ground_truth::PeakResidentKib());
  return 0;
}
