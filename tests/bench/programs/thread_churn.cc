// Cost of a thread that does nothing: prints microseconds of wall time for create and join.
//
//   thread_churn [THREADS]
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

#include "tests/bench/programs/clock.h"

namespace {

void* DoNothing(void*) { return nullptr; }

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 2000;
  const double start = WallSeconds();
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, DoNothing, nullptr) != 0) return 1;
    pthread_join(thread, nullptr);
  }
  printf("%.3f\n", (WallSeconds() - start) / count * 1e6);
  return 0;
}
