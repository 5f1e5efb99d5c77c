// Row P27: a parent that works on while its children work on something else, or sleep.
//
//   fork_samples      parent and child each take 0.3 s of CPU time
#include <cstdio>

#include "tests/programs/pitfalls/children.h"
#include "tests/programs/pitfalls/churn.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

constexpr size_t kCells = size_t{1} << 18;

[[gnu::noinline]] volatile uint64_t* alloc_in_parent() {
  return ground_truth::Kept<uint64_t>(calloc(kCells, sizeof(uint64_t)));
}
[[gnu::noinline]] volatile uint64_t* alloc_in_child() {
  return ground_truth::Kept<uint64_t>(malloc(kCells * sizeof(uint64_t)));
}

[[gnu::noinline]] void Work(volatile uint64_t* cells, double seconds) {
  const double end = ground_truth::ThreadCpuSeconds() + seconds;
  while (ground_truth::ThreadCpuSeconds() < end) {
    for (size_t i = 0; i < kCells; ++i) cells[i] = cells[i] + 1;
  }
}

int Worker() {
  Work(alloc_in_child(), 0.3);
  return 4;
}

int Sleeper() {
  usleep(200000);
  return 5;
}

}  // namespace

int main() {
  volatile uint64_t* cells = alloc_in_parent();
  Work(cells, 0.05);
  const pid_t worker = fork();
  if (worker == 0) _exit(Worker());
  const pid_t sleeper = fork();
  if (sleeper == 0) _exit(Sleeper());
  Work(cells, 0.25);
  printf("%d %d\n", children::StatusOf(worker), children::StatusOf(sleeper));
  own_state::Print();
  return 0;
}
