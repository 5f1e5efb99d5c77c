// One thread allocates, another frees. Prints nanoseconds of CPU time, of both threads together, for
// each block. Blocks are handed over in batches, so that the handing over costs little.
//
//   producer_consumer [BLOCKS]
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tests/bench/programs/call_sites.h"
#include "tests/bench/programs/clock.h"

namespace {

using Batch = std::vector<void*>;
constexpr size_t kBatch = 1024;
constexpr size_t kBatchesWaiting = 8;

class Queue {
 public:
  void Put(Batch batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return batches_.size() < kBatchesWaiting; });
    batches_.push_back(std::move(batch));
    changed_.notify_one();
  }
  Batch Take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !batches_.empty(); });
    Batch batch = std::move(batches_.front());
    batches_.pop_front();
    changed_.notify_one();
    return batch;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;
};

void Produce(Queue& queue, long count, double* seconds) {
  Chance chance;
  const double start = ThreadCpuSeconds();
  for (long i = 0; i < count; ++i) {
    Batch batch(kBatch);
    for (void*& block : batch) {
      chance.Step();
      block = chance.Block();
    }
    queue.Put(std::move(batch));
  }
  queue.Put({});  // the end
  *seconds = ThreadCpuSeconds() - start;
}

void Consume(Queue& queue, double* seconds) {
  const double start = ThreadCpuSeconds();
  for (Batch batch = queue.Take(); !batch.empty(); batch = queue.Take()) {
    for (void* block : batch) free(block);
  }
  *seconds = ThreadCpuSeconds() - start;
}

}  // namespace

int main(int argc, char** argv) {
  const long batches = (argc > 1 ? atol(argv[1]) : 3000000) / static_cast<long>(kBatch) + 1;
  Queue queue;
  double producing = 0;
  double consuming = 0;
  std::thread consumer(Consume, std::ref(queue), &consuming);
  std::thread producer(Produce, std::ref(queue), batches, &producing);
  producer.join();
  consumer.join();
  printf("%.3f\n", (producing + consuming) / static_cast<double>(batches * long{kBatch}) * 1e9);
  return 0;
}
