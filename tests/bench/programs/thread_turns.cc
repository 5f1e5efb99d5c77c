// malloc and free in threads that are all alive and work one after the other, turn by turn: what each
// thread keeps for itself has left the processor's caches when its turn comes. Prints nanoseconds of
// thread CPU time for each pair. The first turn of each thread is not counted.
//
//   thread_turns [THREADS] [TURNS] [PAIRS]   PAIRS in each turn
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <semaphore>
#include <thread>

#include "tests/bench/programs/call_sites.h"
#include "tests/bench/programs/clock.h"

namespace {

struct Worker {
  std::binary_semaphore start{0};
  std::binary_semaphore done{0};
  double seconds = 0;
  std::thread thread;
};

void Work(Worker& worker, int turns, long pairs) {
  Window window(64);
  for (int turn = 0; turn <= turns; ++turn) {
    worker.start.acquire();
    const double start = ThreadCpuSeconds();
    window.RunPairs(pairs);
    if (turn > 0) worker.seconds += ThreadCpuSeconds() - start;
    worker.done.release();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1000;
  const int turns = argc > 2 ? atoi(argv[2]) : 4;
  const long pairs = argc > 3 ? atol(argv[3]) : 1000;
  std::deque<Worker> workers(static_cast<size_t>(count));
  for (Worker& worker : workers) worker.thread = std::thread(Work, std::ref(worker), turns, pairs);
  for (int turn = 0; turn <= turns; ++turn) {
    for (Worker& worker : workers) {
      worker.start.release();
      worker.done.acquire();
    }
  }
  double seconds = 0;
  for (Worker& worker : workers) {
    worker.thread.join();
    seconds += worker.seconds;
  }
  printf("%.3f\n", seconds / (static_cast<double>(pairs) * turns * count) * 1e9);
  return 0;
}
