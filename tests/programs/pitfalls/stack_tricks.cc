// Row P43: what breaks where a profiler changes return addresses or leaves frames of its own
// behind.
//
//   stack_tricks exceptions     thrown in threads, through allocations that are refused
//   stack_tricks jumps          longjmp out of callbacks, siglongjmp out of a fault's handler
//   stack_tricks coroutines     on stacks of 16 KiB, mapped and from malloc, that wander between
//                               threads
//   stack_tricks cancellation   pthread_cancel, pthread_exit and destructors
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/programs/pitfalls/churn.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

constexpr int kRounds = 200;

[[gnu::noinline]] void* alloc_in_trick(size_t bytes) {
  return ground_truth::Kept<void>(malloc(bytes));
}

// A block that its destructor gives back.
struct Block {
  void* bytes = alloc_in_trick(90);
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { free(bytes); }
};

int caught = 0;

[[gnu::noinline]] void Throw(int depth) {
  const Block block;
  if (depth == 0) throw std::runtime_error("deep");
  Throw(depth - 1);
}

// Refused by operator new, which throws from below us.
void AskTooMuch() {
  size_t bytes = ~size_t{0} >> 2;
  ground_truth::Escape(bytes);
  char* never = new char[bytes];
  ground_truth::Escape(never);
  delete[] never;
}

template <typename Call>
void Catch(Call call) {
  try {
    call();
  } catch (const std::exception&) {
    __atomic_fetch_add(&caught, 1, __ATOMIC_RELAXED);
  }
}

void* ThrowingThread(void*) {
  for (int i = 0; i < kRounds; ++i) {
    Catch([] { Throw(9); });
    Catch(AskTooMuch);
  }
  return nullptr;
}

void RunInThreads(void* (*function)(void*), int count) {
  pthread_t threads[8];
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], nullptr, function, nullptr);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], nullptr);
}

void Exceptions() {
  RunInThreads(ThrowingThread, 3);
  std::set_new_handler([] { throw std::logic_error("no more"); });
  for (int i = 0; i < kRounds; ++i) Catch(AskTooMuch);
  printf("caught %d\n", caught);
}

jmp_buf out;

int JumpOut(const void*, const void*) {
  free(alloc_in_trick(90));
  longjmp(out, 1);
}

sigjmp_buf out_of_fault;

// Each returns whether it came back by the jump.
bool JumpsOutOfACallback() {
  int numbers[] = {3, 1, 2};
  if (setjmp(out) != 0) return true;
  qsort(numbers, 3, sizeof(int), JumpOut);
  return false;
}

bool JumpsOutOfAHandler() {
  if (sigsetjmp(out_of_fault, 1) != 0) return true;
  *static_cast<volatile int*>(ground_truth::Kept<void>(nullptr)) = 1;
  return false;
}

void Jumps() {
  signal(SIGSEGV, [](int) {
    free(alloc_in_trick(90));
    siglongjmp(out_of_fault, 1);
  });
  int jumped = 0;
  for (int i = 0; i < kRounds; ++i) jumped += JumpsOutOfACallback() + JumpsOutOfAHandler();
  printf("jumped %d\n", jumped);
}

constexpr int kCoroutines = 8;
constexpr size_t kStackBytes = 16384;
struct Coroutine {
  ucontext_t context;
  ucontext_t* resumer;
  void* stack;
  int steps;
};
Coroutine coroutines[kCoroutines];

void Body(int index) {
  Coroutine& self = coroutines[index];
  while (true) {
    churn::Repeat(alloc_in_trick, 5, 90);
    Catch([] { Throw(3); });
    ++self.steps;
    swapcontext(&self.context, self.resumer);
  }
}

void Prepare(int index, bool mapped) {
  Coroutine& self = coroutines[index];
  self.stack = mapped ? mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                      : malloc(kStackBytes);
  getcontext(&self.context);
  self.context.uc_stack.ss_sp = self.stack;
  self.context.uc_stack.ss_size = kStackBytes;
  makecontext(&self.context, reinterpret_cast<void (*)()>(Body), 1, index);
}

// Resumes each coroutine 20 times on the calling thread.
void* Resume(void*) {
  for (int i = 0; i < 20; ++i) {
    for (Coroutine& coroutine : coroutines) {
      ucontext_t here;
      coroutine.resumer = &here;
      swapcontext(&here, &coroutine.context);
    }
  }
  return nullptr;
}

void Coroutines() {
  for (int round = 0; round < 4; ++round) {
    const bool mapped = round % 2 == 0;
    for (int i = 0; i < kCoroutines; ++i) Prepare(i, mapped);
    Resume(nullptr);
    for (int i = 0; i < 3; ++i) RunInThreads(Resume, 1);  // each goes on in other threads
    for (Coroutine& coroutine : coroutines) {
      if (mapped) {
        munmap(coroutine.stack, kStackBytes);
      } else {
        free(coroutine.stack);
      }
    }
  }
  int steps = 0;
  for (const Coroutine& coroutine : coroutines) steps += coroutine.steps;
  printf("steps %d, caught %d\n", steps, caught);
}

int destroyed = 0;

struct Counted {
  Block block;
  ~Counted() { __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED); }
};

void* Cancelled(void*) {
  const Counted counted;
  while (true) {
    free(alloc_in_trick(90));
    pthread_testcancel();
  }
}

void* LeavesEarly(void*) {
  const Counted counted;
  pthread_exit(nullptr);
}

void Cancellation() {
  for (int i = 0; i < 20; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, Cancelled, nullptr);
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED) puts("not cancelled");
    RunInThreads(LeavesEarly, 1);
  }
  printf("left %d\n", destroyed >= 20 ? 20 : destroyed);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "exceptions") Exceptions();
  if (what == "jumps") Jumps();
  if (what == "coroutines") Coroutines();
  if (what == "cancellation") Cancellation();
  churn::Repeat(alloc_in_trick, 1000, 90);
  own_state::Print();
  return 0;
}
