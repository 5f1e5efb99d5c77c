// Places memory and threads in every way, also in vain, and prints what each call returned and what it
// left in errno: the same with the agent as without.
//
//   placement_calls calls     every call, good and bad
//   placement_calls libnuma   by libnuma's functions; "none" where it is not installed
//   placement_calls vfork     in a child that shares our memory
//   placement_calls signals   in a signal handler, while malloc is interrupted
#include <dlfcn.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#if defined(__x86_64__)
// As a program of before glibc 2.3.4 calls it: without a size.
extern "C" int OldSetaffinity(pid_t thread, const cpu_set_t* cpus);
asm(".symver OldSetaffinity, sched_setaffinity@GLIBC_2.3.3");
#endif

namespace {

constexpr long kSetMempolicyHomeNode = 450;
constexpr int kUntouched = 77;  // errno before each call

void* const kBadPointer = reinterpret_cast<void*>(8);
uint64_t node_0 = 1;

cpu_set_t OwnCpus() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(0, sizeof(cpus), &cpus);
  return cpus;
}

template <typename Call>
void Try(const char* what, Call call) {
  errno = kUntouched;
  const long result = call();
  printf("%s: %ld, errno %d\n", what, result, errno);
}

void TryAffinity() {
  cpu_set_t own = OwnCpus();
  cpu_set_t none;
  CPU_ZERO(&none);
  Try("own CPUs", [&] { return sched_setaffinity(0, sizeof(own), &own); });
  Try("by pid", [&] { return sched_setaffinity(getpid(), sizeof(own), &own); });
  Try("8 bytes", [&] { return sched_setaffinity(0, 8, &own); });
  Try("endless", [&] { return sched_setaffinity(0, ~size_t{0}, &own); });
  Try("1 MiB", [&] { return sched_setaffinity(0, size_t{1} << 20, &own); });
  Try("no CPU", [&] { return sched_setaffinity(0, sizeof(none), &none); });
  Try("nobody", [&] { return sched_setaffinity(999'999'999, sizeof(own), &own); });
  Try("nowhere", [] {
    return sched_setaffinity(0, sizeof(cpu_set_t), static_cast<cpu_set_t*>(kBadPointer));
  });
  Try("by system call", [&] { return syscall(SYS_sched_setaffinity, 0, 8, &own); });
#if defined(__x86_64__)
  Try("without a size", [&] { return OldSetaffinity(0, &own); });
  Try("without a size, no CPU", [&] { return OldSetaffinity(0, &none); });
#endif
}

void* Rest(void* stop) {
  while (!__atomic_load_n(static_cast<bool*>(stop), __ATOMIC_ACQUIRE)) usleep(1000);
  return nullptr;
}

void TryThreads() {
  cpu_set_t own = OwnCpus();
  cpu_set_t none;
  CPU_ZERO(&none);
  bool stop = false;
  pthread_t thread;
  if (pthread_create(&thread, nullptr, Rest, &stop) != 0) abort();
  usleep(20'000);  // known to the agent
  Try("thread itself", [&] { return pthread_setaffinity_np(pthread_self(), sizeof(own), &own); });
  Try("another", [&] { return pthread_setaffinity_np(thread, sizeof(own), &own); });
  Try("thread, no CPU", [&] { return pthread_setaffinity_np(thread, sizeof(none), &none); });
  usleep(50'000);
  __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
  pthread_join(thread, nullptr);
}

void TryPolicies(void* page) {
  Try("mbind", [&] { return syscall(SYS_mbind, page, 4096, MPOL_BIND, &node_0, 64, 0); });
  Try("mbind of nothing", [&] { return syscall(SYS_mbind, page, 4096, MPOL_DEFAULT, nullptr, 0, 0); });
  Try("mbind, bad flags",
      [&] { return syscall(SYS_mbind, page, 4096, MPOL_BIND, kBadPointer, 64, 0xffff); });
  Try("mbind, bad nodes",
      [&] { return syscall(SYS_mbind, page, 4096, MPOL_BIND, kBadPointer, 64, 0); });
  Try("set_mempolicy", [] { return syscall(SYS_set_mempolicy, MPOL_PREFERRED, &node_0, 64); });
  Try("set_mempolicy, bad mode", [] { return syscall(SYS_set_mempolicy, 99, kBadPointer, 64); });
  Try("set_mempolicy, bad nodes",
      [] { return syscall(SYS_set_mempolicy, MPOL_BIND, kBadPointer, 64); });
  Try("no policy", [] { return syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0); });
  Try("home node", [&] { return syscall(kSetMempolicyHomeNode, page, 4096, 0, 0); });
}

void TryPages(void* page) {
  void* pages[2] = {page, page};
  int nodes[2] = {0, 0};
  int status[2] = {-1, -1};
  Try("move_pages", [&] { return syscall(SYS_move_pages, 0, 2, pages, nodes, status, 0); });
  Try("where they are", [&] { return syscall(SYS_move_pages, 0, 2, pages, nullptr, status, 0); });
  Try("no page", [&] { return syscall(SYS_move_pages, 0, 0, nullptr, nodes, nullptr, 0); });
  Try("bad pages", [&] { return syscall(SYS_move_pages, 0, 2, kBadPointer, nodes, status, 0); });
  Try("bad nodes", [&] { return syscall(SYS_move_pages, 0, 2, pages, kBadPointer, status, 0); });
  Try("migrate_pages", [] { return syscall(SYS_migrate_pages, 0, 64, &node_0, &node_0); });
  Try("migrate, bad nodes", [] { return syscall(SYS_migrate_pages, 0, 64, &node_0, kBadPointer); });
  Try("migrate nobody", [] { return syscall(SYS_migrate_pages, 999'999'999, 64, &node_0, &node_0); });
}

void TryCalls() {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) abort();
  memset(page, 1, 4096);
  TryAffinity();
  TryThreads();
  TryPolicies(page);
  TryPages(page);
  for (const char* name : {"mbind", "set_mempolicy", "move_pages", "migrate_pages", "get_mempolicy"}) {
    printf("%s is %sdefined\n", name, dlsym(RTLD_DEFAULT, name) == nullptr ? "not " : "");
  }
}

template <typename Function>
Function Get(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

void TryLibnuma() {
  void* library = dlopen("libnuma.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    printf("none\n");
    return;
  }
  void* page = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  printf("available: %d\n", Get<int (*)()>(library, "numa_available")());
  using Mbind = long (*)(void*, unsigned long, int, const void*, unsigned long, unsigned);
  auto mbind = Get<Mbind>(library, "mbind");
  printf("found again: %d\n", reinterpret_cast<void*>(mbind) == dlsym(RTLD_DEFAULT, "mbind"));
  printf("by version: %d\n",
         reinterpret_cast<void*>(mbind) == dlvsym(RTLD_DEFAULT, "mbind", "libnuma_1.1"));
  Try("mbind", [&] { return mbind(page, 4096, MPOL_BIND, &node_0, 64, 0); });
  Try("mbind, bad flags", [&] { return mbind(page, 4096, MPOL_BIND, &node_0, 64, 0xffff); });
  auto set_policy = Get<long (*)(int, const void*, unsigned long)>(library, "set_mempolicy");
  Try("set_mempolicy", [&] { return set_policy(MPOL_PREFERRED, &node_0, 64); });
  auto run_on_node = Get<int (*)(int)>(library, "numa_run_on_node");
  Try("numa_run_on_node", [&] { return run_on_node(0); });
  Try("numa_run_on_node 999", [&] { return run_on_node(999); });
  auto on_node = Get<void (*)(void*, size_t, int)>(library, "numa_tonode_memory");
  Try("numa_tonode_memory", [&] { return on_node(page, 8192, 0), 0L; });
}

void TryVfork() {
  cpu_set_t own = OwnCpus();
  Try("in a vfork child", [&] {
    const pid_t child = vfork();
    if (child == 0) _exit(sched_setaffinity(0, sizeof(own), &own) == 0 ? 3 : 4);
    int status = 0;
    waitpid(child, &status, 0);
    return long{WEXITSTATUS(status)};
  });
}

cpu_set_t handler_cpus;
volatile sig_atomic_t handled = 0;
volatile sig_atomic_t failed = 0;

void Handle(int) {
  const int before = errno;
  if (sched_setaffinity(0, sizeof(handler_cpus), &handler_cpus) != 0) failed = failed + 1;
  syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0);
  errno = before;
  handled = handled + 1;
}

void TrySignals() {
  handler_cpus = OwnCpus();
  struct sigaction action = {};
  action.sa_handler = Handle;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval every = {{0, 500}, {0, 500}};
  setitimer(ITIMER_REAL, &every, nullptr);
  uintptr_t sum = 0;
  while (handled < 500) {
    for (size_t size = 1; size < 4096; size += 37) {
      void* block = malloc(size);
      sum += reinterpret_cast<uintptr_t>(block) & 15;
      free(block);
    }
  }
  const itimerval off = {};
  setitimer(ITIMER_REAL, &off, nullptr);
  printf("failed: %d, sum %zu\n", static_cast<int>(failed), static_cast<size_t>(sum));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view way = argc > 1 ? argv[1] : "";
  if (way == "calls") TryCalls();
  if (way == "libnuma") TryLibnuma();
  if (way == "vfork") TryVfork();
  if (way == "signals") TrySignals();
  return 0;
}
