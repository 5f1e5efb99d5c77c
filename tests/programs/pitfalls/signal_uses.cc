// Rows P46 to P51: what programs do with signals.
//
//   signal_uses wait        threads block SIGTERM and SIGUSR1, one takes 200 of them by sigwait
//   signal_uses calls       system calls that a signal would interrupt; 20 signals that do
//   signal_uses timers      the program's own SIGPROF, SIGVTALRM, SIGALRM and SIGIO
//   signal_uses stacks      a fault's handler on an alternate stack of 16 KiB that allocates,
//   nested signal_uses allocate    a handler that allocates while the program computes signal_uses
//   map         a handler that maps memory while the program is inside malloc signal_uses children
//   a storm of SIGCHLD for a second, checkpoints in between
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "tests/programs/pitfalls/children.h"
#include "tests/programs/pitfalls/churn.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

volatile sig_atomic_t handled = 0;

[[gnu::noinline]] void* alloc_outside(size_t bytes) {
  return ground_truth::Kept<void>(malloc(bytes));
}
[[gnu::noinline]] void* alloc_in_handler(size_t bytes) {
  return ground_truth::Kept<void>(calloc(1, bytes));
}

void Count(int) { handled = handled + 1; }

void Handle(int number, void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(number, &action, nullptr);
}

void Wait() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  churn::StartForEver(2);
  int right = 0;
  for (int i = 0; i < 200; ++i) {
    const int sent = i % 2 == 0 ? SIGTERM : SIGUSR1;
    kill(getpid(), sent);
    int received = 0;
    sigwait(&set, &received);
    right += received == sent;
  }
  printf("received %d\n", right);
}

// Each blocks for 20 ms and says how often it was interrupted.
int Interruptions(int fd) {
  int interrupted = 0;
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  pollfd waits = {fd, POLLIN, 0};
  const timespec pause = {0, 20'000'000};
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 20'000'000;
  if (until.tv_nsec >= 1'000'000'000) {
    until.tv_nsec -= 1'000'000'000;
    ++until.tv_sec;
  }
  interrupted += poll(&waits, 1, 20) < 0 && errno == EINTR;
  interrupted += nanosleep(&pause, nullptr) < 0 && errno == EINTR;
  interrupted += sem_timedwait(&semaphore, &until) < 0 && errno == EINTR;
  return interrupted;
}

void Calls() {
  int ends[2];
  if (pipe(ends) != 0) return;
  churn::StartForEver(1);
  int interrupted = 0;
  for (int i = 0; i < 5; ++i) interrupted += Interruptions(ends[0]);
  printf("interrupted %d times by nobody\n", interrupted);
  Handle(SIGUSR1, Count, 0);  // no SA_RESTART
  const pthread_t self = pthread_self();
  pthread_t sender;
  pthread_create(
      &sender, nullptr,
      [](void* target) -> void* {
        for (int i = 0; i < 20; ++i) {
          while (handled < i) usleep(100);
          usleep(5000);
          pthread_kill(*static_cast<pthread_t*>(target), SIGUSR1);
        }
        return nullptr;
      },
      const_cast<pthread_t*>(&self));
  int waits = 0;
  pollfd readable = {ends[0], POLLIN, 0};
  while (handled < 20) waits += poll(&readable, 1, 1000) < 0 && errno == EINTR;
  pthread_join(sender, nullptr);
  printf("%d signals, interrupted %s\n", static_cast<int>(handled), waits > 5 ? "often" : "hardly");
}

void Timers() {
  itimerval none;
  for (const int kind : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    getitimer(kind, &none);
    printf("timer %d: %ld\n", kind, none.it_value.tv_usec);
  }
  own_state::PrintSignals();
  const struct {
    int kind, signal;
  } timers[] = {{ITIMER_REAL, SIGALRM}, {ITIMER_VIRTUAL, SIGVTALRM}, {ITIMER_PROF, SIGPROF}};
  const itimerval often = {{0, 2000}, {0, 2000}};
  for (const auto& timer : timers) {
    handled = 0;
    Handle(timer.signal, Count, SA_RESTART);
    setitimer(timer.kind, &often, nullptr);
    while (handled < 10) churn::Repeat(alloc_outside, 100, 20);
    const itimerval off = {};
    setitimer(timer.kind, &off, nullptr);
    printf("signal %d came\n", timer.signal);
  }
  int ends[2];
  if (pipe(ends) != 0) return;
  handled = 0;
  Handle(SIGIO, Count, SA_RESTART);
  fcntl(ends[0], F_SETOWN, getpid());
  fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK);
  const ssize_t written = write(ends[1], "x", 1);
  printf("wrote %zd, SIGIO %d\n", written, static_cast<int>(handled));
}

sigjmp_buf back;

void OnFault(int) {
  free(alloc_in_handler(200));
  handled = handled + 1;
  if (handled % 2 == 0) raise(SIGUSR2);  // nested on the same stack
  siglongjmp(back, 1);
}

[[gnu::noinline]] bool FaultOnce() {
  if (sigsetjmp(back, 1) != 0) return true;
  *static_cast<volatile int*>(ground_truth::Kept<void>(nullptr)) = 1;
  return false;
}

void Stacks() {
  static char stack[16384];
  const stack_t alternate = {stack, 0, sizeof(stack)};
  sigaltstack(&alternate, nullptr);
  Handle(SIGSEGV, OnFault, SA_ONSTACK);
  Handle(
      SIGUSR2, [](int) { free(alloc_in_handler(100)); }, SA_ONSTACK);
  for (int i = 0; i < 100; ++i) FaultOnce();
  printf("faults %d\n", static_cast<int>(handled));
}

void Tick(int number) {
  Count(number);
  free(alloc_in_handler(60));
}

void Allocate() {
  Handle(SIGALRM, Tick, SA_RESTART);
  const itimerval often = {{0, 500}, {0, 500}};
  setitimer(ITIMER_REAL, &often, nullptr);
  volatile double value = 1;
  while (handled < 200) value = value * 1.0000001;
  Handle(SIGALRM, SIG_IGN, 0);
  fprintf(stdout, "handled enough\n");
  churn::Repeat(alloc_outside, handled, 10);  // as many as were handled
}

void Map(int number) {
  Count(number);
  void* pages = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<volatile char*>(pages) = 1;
  munmap(pages, 8192);
}

void Maps() {
  Handle(SIGALRM, Map, SA_RESTART);
  const itimerval often = {{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &often, nullptr);
  int blocks = 0;
  for (; handled < 300; ++blocks) free(alloc_outside(100));
  Handle(SIGALRM, SIG_IGN, 0);
  for (; blocks % 1000000 != 0; ++blocks) free(alloc_outside(100));
  printf("handled enough\n");
}

void Storm() {
  Handle(SIGCHLD, Count, SA_RESTART | SA_NOCLDSTOP);
  int ended = 0;
  for (int i = 0; i < 100; ++i) {
    churn::Repeat(alloc_outside, 50, 30);
    const pid_t pid = vfork();
    if (pid == 0) _exit(3);
    ended += children::StatusOf(pid) == 3;
    if (i % 10 == 0) usleep(100000);
  }
  printf("%d children, %d signals\n", ended, static_cast<int>(handled));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "wait") Wait();
  if (what == "calls") Calls();
  if (what == "timers") Timers();
  if (what == "stacks") Stacks();
  if (what == "allocate") Allocate();
  if (what == "map") Maps();
  if (what == "children") Storm();
  churn::Repeat(alloc_outside, 1000, 16);
  own_state::Print();
  fflush(stdout);
  _exit(6);
}
