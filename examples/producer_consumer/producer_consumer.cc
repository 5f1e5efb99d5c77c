// A producer thread allocates and fills blocks, a consumer thread reads and frees them: the memory
// is always near the producer and always used by the consumer.
//
//   producer_consumer [SCALE]    SCALE times as many blocks (default 1)
#include <pthread.h>

#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "examples/pinning.h"

namespace {

constexpr size_t kCells = size_t{1} << 19;  // 4 MiB a block: each comes fresh from mmap
constexpr int kBlocksPerScale = 360;
constexpr int kReadsOfEachBlock = 6;
constexpr size_t kQueueLimit = 4;

class Queue {
 public:
  void Push(uint64_t* block) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return blocks_.size() < kQueueLimit; });
    blocks_.push_back(block);
    changed_.notify_all();
  }
  uint64_t* Pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !blocks_.empty(); });
    uint64_t* block = blocks_.front();
    blocks_.pop_front();
    changed_.notify_all();
    return block;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<uint64_t*> blocks_;
};

[[gnu::noinline]] uint64_t* AllocateBlock() {
  void* block = malloc(kCells * sizeof(uint64_t));
  if (block == nullptr) exit(1);
  return static_cast<uint64_t*>(block);
}

[[gnu::noinline]] void FillBlock(uint64_t* block, uint64_t first) {
  for (size_t i = 0; i < kCells; ++i) block[i] = first + i;
}

// Reads one cell of each line with a stride that a prefetcher cannot follow (prime to the size).
[[gnu::noinline]] uint64_t ReadBlock(const uint64_t* block) {
  uint64_t sum = 0;
  size_t at = 0;
  for (size_t i = 0; i < kCells; ++i) {
    sum += block[at];
    at = (at + 300'007) % kCells;
  }
  return sum;
}

void Produce(Queue& queue, int blocks) {
  pthread_setname_np(pthread_self(), "producer");
  for (int i = 0; i < blocks; ++i) {
    uint64_t* block = AllocateBlock();
    FillBlock(block, static_cast<uint64_t>(i));
    queue.Push(block);
  }
}

void Consume(Queue& queue, int blocks, uint64_t& sum) {
  pthread_setname_np(pthread_self(), "consumer");
  for (int i = 0; i < blocks; ++i) {
    uint64_t* block = queue.Pop();
    for (int read = 0; read < kReadsOfEachBlock; ++read) sum += ReadBlock(block);
    free(block);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int blocks = kBlocksPerScale * (argc > 1 ? atoi(argv[1]) : 1);
  Queue queue;
  uint64_t sum = 0;
  const std::vector<examples::Node> nodes = examples::NodesWithCpus();
  std::thread producer([&] {
    examples::PinTo(nodes.front());
    Produce(queue, blocks);
  });
  std::thread consumer([&] {
    examples::PinTo(nodes.back());
    Consume(queue, blocks, sum);
  });
  producer.join();
  consumer.join();
  printf("producer_consumer: %d blocks, sum %llu\n", blocks, static_cast<unsigned long long>(sum));
  return 0;
}
