// The operations whose cost inside the agent's hooks is pinned (tests/gates/instructions.py). Valgrind's
// callgrind writes the instructions of each, under the operation's name, when the program asks for it.
//
//   fast_path      every operation runs twice, kCount times each: first to warm up
#include <pthread.h>
#include <valgrind/callgrind.h>

#include <cstdlib>
#include <new>

// glibc's own name: no hook of ours sees this call.
extern "C" void* __libc_malloc(size_t size);

namespace {

constexpr long kCount = 1000;  // instructions.py divides by this
void* blocks[kCount];
unsigned long next_path = 0;

// Compilers may leave out a malloc whose block only goes to free.
void* Keep(void* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

template <typename Body>
void Repeat(Body body) {
  for (long i = 0; i < kCount; ++i) body(i);
}

// Two call sites on every level, chosen by the bits of `path`: stacks of equal stack pointers that
// differ in return addresses.
[[gnu::noinline]] void Descend(unsigned depth, unsigned long path, void (*body)()) {
  if (depth == 0) {
    body();
  } else if ((path & 1) != 0) {
    Descend(depth - 1, path >> 1, body);
    asm volatile("");
  } else {
    Descend(depth - 1, path >> 1, body);
    asm volatile("nop");
  }
  asm volatile("");
}

void SmallPair() { free(Keep(malloc(48))); }

void Pairs() {
  Repeat([](long) { free(Keep(malloc(48))); });
}

// Large blocks have an entry for every 16 KiB.
void PairsOfLargeBlocks() {
  Repeat([](long) { free(Keep(malloc(40000))); });
}

void PairsOfNewAndDelete() {
  Repeat([](long) { ::operator delete(Keep(::operator new(48)), size_t{48}); });
}

void PairsOfCallocAndFree() {
  Repeat([](long) { free(Keep(calloc(6, 8))); });
}

// Four stacks in turn.
void PairsAlternating() {
  Repeat([](long i) { Descend(2, static_cast<unsigned long>(i), SmallPair); });
}

// Stacks that were not seen before, of known code.
void PairsOnNewStacks() {
  Repeat([](long) { Descend(11, next_path++, SmallPair); });
}

void Mallocs() {
  Repeat([](long i) { blocks[i] = malloc(48); });
}

void LibcMallocs() {
  Repeat([](long i) { blocks[i] = __libc_malloc(48); });
}

void Frees() {
  Repeat([](long i) { free(blocks[i]); });
}

void FreesOfNothing() {
  Repeat([](long) { free(Keep(nullptr)); });
}

void OneMalloc() { blocks[0] = malloc(48); }

void Reallocs() {
  Repeat([](long i) { blocks[0] = realloc(blocks[0], i % 2 == 0 ? 56 : 48); });
}

struct Operation {
  const char* name;
  void (*prepare)();  // not counted; may be null
  void (*body)();
  bool in_thread = false;
};
constexpr Operation kOperations[] = {
    {"pair", nullptr, Pairs},
    {"pair_of_large_blocks", nullptr, PairsOfLargeBlocks},
    {"pair_of_new_and_delete", nullptr, PairsOfNewAndDelete},
    {"pair_of_calloc_and_free", nullptr, PairsOfCallocAndFree},
    {"pair_on_alternating_stacks", nullptr, PairsAlternating},
    {"pair_on_new_stack", nullptr, PairsOnNewStacks},
    {"malloc", nullptr, Mallocs},
    {"free", nullptr, Frees},
    {"free_in_other_thread", Mallocs, Frees, true},
    {"free_of_foreign_block", LibcMallocs, Frees},
    {"free_of_nullptr", nullptr, FreesOfNothing},
    {"realloc_in_place", OneMalloc, Reallocs},
};
const Operation* current;

void Measure() {
  CALLGRIND_ZERO_STATS;
  current->body();
  CALLGRIND_DUMP_STATS_AT(current->name);
}

// Thirteen frames in the main thread, with those below main and the operation's own.
void MeasureDeep() { Descend(6, 0, Measure); }

void* MeasureInThread(void*) {
  MeasureDeep();
  return nullptr;
}

void RunAll() {
  for (const Operation& operation : kOperations) {
    current = &operation;
    if (operation.prepare != nullptr) operation.prepare();
    pthread_t thread;
    if (!operation.in_thread) {
      MeasureDeep();
    } else if (pthread_create(&thread, nullptr, MeasureInThread, nullptr) == 0) {
      pthread_join(thread, nullptr);
    }
  }
  free(blocks[0]);  // what Reallocs left
}

}  // namespace

int main() {
  RunAll();
  RunAll();
  return 0;
}
