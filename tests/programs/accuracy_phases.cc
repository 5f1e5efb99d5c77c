// Four ways to use memory, one after another, each on an allocation of its own. The thread's CPU
// clock around each phase is the truth: which share of the time belongs to which allocation.
//
//   accuracy_phases [SECONDS]    total CPU time of the phases (default 4)
//
// Inner loops are unrolled and hold almost only memory accesses, so that time in a phase is time on
// its allocation and not on counting loop turns. The list's loop is as short as a list loop gets:
// its turns wait for memory, and counting them is hidden behind that.
#include <array>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/programs/ground_truth.h"

namespace {

using ground_truth::Escape;
using ground_truth::NextRandom;

constexpr size_t kStreamCells = size_t{1} << 22;  // 32 MiB in each of three arrays
constexpr size_t kListNodes = size_t{1} << 19;    // 32 MiB, a line each
constexpr size_t kHotCells = 1024;                // 8 KiB
constexpr size_t kRandomCells = size_t{1} << 23;  // 64 MiB
constexpr int kRounds = 8;

struct alignas(64) ListNode {
  ListNode* next;
};

[[gnu::noinline]] uint64_t* alloc_stream() {
  return ground_truth::Kept<uint64_t>(malloc(3 * kStreamCells * sizeof(uint64_t)));
}
[[gnu::noinline]] ListNode* alloc_list() {
  return ground_truth::Kept<ListNode>(aligned_alloc(64, kListNodes * sizeof(ListNode)));
}
[[gnu::noinline]] uint64_t* alloc_hot() {
  return ground_truth::Kept<uint64_t>(malloc(kHotCells * sizeof(uint64_t)));
}
[[gnu::noinline]] uint64_t* alloc_random() {
  return ground_truth::Kept<uint64_t>(malloc(kRandomCells * sizeof(uint64_t)));
}

// One turn of a phase is about a quarter of a millisecond: short against the phase, long against
// the clock reading between turns.
struct State {
  uint64_t* stream;
  ListNode* list;
  uint64_t* hot;
  uint64_t* random;
  size_t stream_at = 0;
  ListNode* list_at = nullptr;
  uint64_t random_state = 1;
  uint64_t sum = 0;
};

[[gnu::noinline]] void StreamTurn(State& state) {
  constexpr size_t kTurn = size_t{1} << 16;
  uint64_t* a = state.stream + state.stream_at;
  const uint64_t* b = a + kStreamCells;
  const uint64_t* c = b + kStreamCells;
#pragma GCC unroll 16
  for (size_t i = 0; i < kTurn; ++i) {
    uint64_t value = b[i];
    value += c[i];
    asm("" : "+r"(value));  // keeps the loop scalar: three accesses, no arithmetic besides
    a[i] = value;
  }
  state.stream_at = (state.stream_at + kTurn) % kStreamCells;
}

[[gnu::noinline]] void ListTurn(State& state) {
  const ListNode* node = state.list_at;
  for (int i = 0; i < 4096; ++i) {
    node = node->next;
    asm("" : "+r"(node));
  }
  state.list_at = const_cast<ListNode*>(node);
}

[[gnu::noinline]] void HotTurn(State& state) {
  uint64_t sum = state.sum;
  for (int pass = 0; pass < 512; ++pass) {
#pragma GCC unroll 32
    for (size_t i = 0; i < kHotCells; ++i) {
      sum += state.hot[i];
      asm("" : "+r"(sum));
    }
  }
  state.sum = sum;
}

[[gnu::noinline]] void RandomTurn(State& state) {
  uint64_t random = state.random_state;
  uint64_t sum = state.sum;
#pragma GCC unroll 8
  for (int i = 0; i < 8192; ++i) {
    random = NextRandom(random);
    sum += state.random[random >> 41];  // 23 bits
    asm("" : "+r"(sum));
  }
  state.random_state = random;
  state.sum = sum;
}

void LinkInRandomOrder(ListNode* nodes) {
  std::vector<uint32_t> order(kListNodes);
  std::iota(order.begin(), order.end(), 0u);
  uint64_t random = 7;
  for (size_t i = kListNodes - 1; i > 0; --i) {
    random = NextRandom(random);
    std::swap(order[i], order[(random >> 33) % (i + 1)]);
  }
  for (size_t i = 0; i < kListNodes; ++i) {
    nodes[order[i]].next = &nodes[order[(i + 1) % kListNodes]];
  }
}

State Prepare() {
  State state = {alloc_stream(), alloc_list(), alloc_hot(), alloc_random()};
  std::fill_n(state.stream, 3 * kStreamCells, 1);
  std::fill_n(state.hot, kHotCells, 1);
  std::fill_n(state.random, kRandomCells, 1);
  LinkInRandomOrder(state.list);
  state.list_at = state.list;
  return state;
}

struct Phase {
  const char* function;  // that allocated
  void (*turn)(State&);
  double weight;  // of the total time
  double cpu_seconds = 0;
};

void RunFor(Phase& phase, double seconds, State& state) {
  const double start = ground_truth::ThreadCpuSeconds();
  double now = start;
  while (now - start < seconds) {
    phase.turn(state);
    now = ground_truth::ThreadCpuSeconds();
  }
  phase.cpu_seconds += now - start;
}

}  // namespace

int main(int argc, char** argv) {
  const double total = ground_truth::SecondsArgument(argc, argv, 1, 4);
  State state = Prepare();
  std::array<Phase, 4> phases = {{{"alloc_stream", StreamTurn, 0.15},
                                  {"alloc_list", ListTurn, 0.30},
                                  {"alloc_hot", HotTurn, 0.20},
                                  {"alloc_random", RandomTurn, 0.35}}};
  for (int round = 0; round < kRounds; ++round) {
    for (Phase& phase : phases) RunFor(phase, total * phase.weight / kRounds, state);
  }
  Escape(state.sum);
  double sum = 0;
  for (const Phase& phase : phases) sum += phase.cpu_seconds;
  printf("{\"cpu_seconds\": %.6f, \"shares\": {", sum);
  for (size_t i = 0; i < phases.size(); ++i) {
    printf("%s\"%s\": %.6f", i == 0 ? "" : ", ", phases[i].function, phases[i].cpu_seconds / sum);
  }
  printf("}}\n");
  return 0;
}
