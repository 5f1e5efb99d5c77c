// Rows P75 to P79, P81: stacks that are hard to walk, each below an allocation.
//
//   unwinding coroutines     on mapped stacks of 16 KiB, the page above and below unreadable
//   unwinding garbage        rbp and the frames that it points to are nonsense
//   unwinding generated      called by code made at run time, without unwind information
//   unwinding deep           300 calls deep
//   unwinding noreturn       the call is the last instruction of its function
//   unwinding signal         in a handler on an alternate stack, over the interrupted function
//   unwinding descriptors    all descriptors are closed, their numbers used anew
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

using ground_truth::Kept;

constexpr int kRounds = 100;
constexpr size_t kPage = 4096;

[[gnu::noinline]] void* alloc_below(size_t size) { return Kept<void>(malloc(size)); }

ucontext_t main_context;
ucontext_t coroutine;

[[gnu::noinline]] void in_coroutine() {
  for (int i = 0; i < kRounds; ++i) {
    free(alloc_below(100));
    swapcontext(&coroutine, &main_context);
  }
}

void Coroutines() {
  constexpr size_t kStack = 4 * kPage;
  auto* memory = static_cast<char*>(
      mmap(nullptr, kStack + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (mprotect(memory + kPage, kStack, PROT_READ | PROT_WRITE) != 0) abort();
  getcontext(&coroutine);
  coroutine.uc_stack = {memory + kPage, 0, kStack};
  coroutine.uc_link = &main_context;
  makecontext(&coroutine, in_coroutine, 0);
  for (int i = 0; i < kRounds; ++i) swapcontext(&main_context, &coroutine);
  munmap(memory, kStack + 2 * kPage);
}

// malloc(100) from code without unwind information, rbp being `fp` meanwhile:
//   push rbp; mov rbp, rsi; sub rsp, 16; mov rax, rdi; mov edi, 100; call rax; add rsp, 16; pop
//   rbp; ret
constexpr uint8_t kCode[] = {0x55, 0x48, 0x89, 0xf5, 0x48, 0x83, 0xec, 0x10,
                             0x48, 0x89, 0xf8, 0xbf, 0x64, 0,    0,    0,
                             0xff, 0xd0, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3};
using Generated = void* (*)(void* (*)(size_t), uintptr_t);

Generated Generate() {
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, kCode, sizeof(kCode));
  if (mprotect(page, kPage, PROT_READ | PROT_EXEC) != 0) abort();
  return reinterpret_cast<Generated>(page);
}

// Frame pointers that lead nowhere, to themselves, in circles, just below the end of a page.
void Garbage() {
  const Generated call = Generate();
  auto* pages = static_cast<uintptr_t*>(
      mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(reinterpret_cast<char*>(pages) + kPage, kPage, PROT_NONE);
  uintptr_t circle[4] = {};
  circle[0] = reinterpret_cast<uintptr_t>(&circle[2]);
  circle[2] = reinterpret_cast<uintptr_t>(&circle[0]);
  circle[1] = circle[3] = reinterpret_cast<uintptr_t>(&Garbage) + 8;
  pages[0] = reinterpret_cast<uintptr_t>(pages);
  const uintptr_t pointers[] = {0,
                                1,
                                ~uintptr_t{0},
                                uintptr_t{1} << 47,
                                reinterpret_cast<uintptr_t>(pages),
                                reinterpret_cast<uintptr_t>(pages) + kPage - 8,
                                reinterpret_cast<uintptr_t>(pages) + kPage,
                                reinterpret_cast<uintptr_t>(circle),
                                reinterpret_cast<uintptr_t>(circle) + 3};
  for (int i = 0; i < kRounds; ++i) {
    for (const uintptr_t pointer : pointers) free(call(alloc_below, pointer));
  }
}

[[gnu::noinline]] void through_generated(Generated call) {
  free(call(alloc_below, reinterpret_cast<uintptr_t>(__builtin_frame_address(0))));
}

void GeneratedCode() {
  const Generated call = Generate();
  for (int i = 0; i < kRounds; ++i) through_generated(call);
}

[[gnu::noinline]] int go_deeper(int levels) {
  if (levels == 0) {
    free(alloc_below(100));
    return 0;
  }
  int result = go_deeper(levels - 1) + 1;
  ground_truth::Escape(result);
  return result;
}

jmp_buf back;
[[noreturn, gnu::noinline]] void alloc_and_leave() {
  free(alloc_below(100));
  longjmp(back, 1);
}
// Its return address is the first one after it: whoever looks there names the function behind.
[[gnu::noinline]] void ends_with_the_call() {
  asm volatile("");
  alloc_and_leave();
}
[[gnu::noinline, gnu::used]] void stands_behind() { asm volatile("nop"); }

void Noreturn() {
  static int i;  // not in a register, which longjmp would restore
  for (i = 0; i < kRounds; ++i) {
    if (setjmp(back) == 0) ends_with_the_call();
  }
}

void Handler(int) { free(alloc_below(100)); }

[[gnu::noinline]] void is_interrupted() {
  raise(SIGUSR1);
  asm volatile("");
}

void Signal() {
  static char memory[64 * 1024];
  const stack_t stack = {memory, 0, sizeof(memory)};
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = Handler;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  for (int i = 0; i < kRounds; ++i) is_interrupted();
}

// As a daemon does; what somebody keeps in a number of ours is then the program's own file.
void Descriptors() {
  go_deeper(10);
  for (int fd = 3; fd < 1024; ++fd) close(fd);
  int mine[32];
  for (int& fd : mine) fd = open("data", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  for (int i = 0; i < kRounds; ++i) {
    go_deeper(i % 40);
    const int fd = mine[i % 32];
    if (write(fd, "x", 1) != 1) printf("write to %d failed\n", fd);
  }
  printf("%ld bytes, first number %d\n", static_cast<long>(lseek(mine[0], 0, SEEK_END)), mine[0]);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "coroutines") Coroutines();
  if (what == "garbage") Garbage();
  if (what == "generated") GeneratedCode();
  if (what == "deep") printf("%d deep\n", go_deeper(300));
  if (what == "noreturn") Noreturn();
  if (what == "signal") Signal();
  if (what == "descriptors") Descriptors();
  printf("done\n");
  own_state::Print();
  return 0;
}
