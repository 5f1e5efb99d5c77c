// Rows P70, P71, P83: limits that the program sets on itself, and all that it may use of them.
//
//   limits memlock BYTES        as nobody, with locked memory of BYTES: 24 threads, then its own
//   locks limits nofile NUMBER        opens every descriptor it may have, waits for some with
//   select() limits fsize BYTES          writes its own file up to the limit
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

constexpr unsigned kNobody = 65534;

[[gnu::noinline]] void* alloc_limited() { return ground_truth::Kept<void>(malloc(1000)); }

void Allocate(int count) {
  for (int i = 0; i < count; ++i) alloc_limited();
}

void Limit(__rlimit_resource resource, rlim_t value) {
  const rlimit limit = {value, value};
  if (setrlimit(resource, &limit) != 0) perror("setrlimit");
}

void PrintLimit(const char* name, __rlimit_resource resource) {
  rlimit limit = {};
  getrlimit(resource, &limit);
  printf("%s: soft %ld, hard %ld\n", name, static_cast<long>(limit.rlim_cur),
         static_cast<long>(limit.rlim_max));
}

// Twice what the process may lock: the plain run says how much of it can be locked.
void PrintLockable(rlim_t bytes) {
  const size_t page = 4096;
  const size_t length = 2 * bytes + page;
  auto* memory = static_cast<char*>(
      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  size_t locked = 0;
  while (locked < length && mlock(memory + locked, page) == 0) locked += page;
  printf("%zu bytes can be locked, then errno %d\n", locked, errno);
}

int LockedMemory(rlim_t bytes) {
  Limit(RLIMIT_MEMLOCK, bytes);
  if (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
      setresuid(kNobody, kNobody, kNobody) != 0) {
    return 99;
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 24; ++i) {
    threads.emplace_back([] {
      Allocate(100);
      usleep(100'000);  // all are alive at once
    });
  }
  for (std::thread& thread : threads) thread.join();
  PrintLockable(bytes);
  PrintLimit("memlock", RLIMIT_MEMLOCK);
  return 3;
}

int OpenFiles(rlim_t number) {
  Limit(RLIMIT_NOFILE, number);
  Allocate(100);
  int last = -1, count = 0;
  for (int fd; (fd = open("/dev/zero", O_RDONLY)) >= 0; ++count) last = fd;
  printf("%d more descriptors, the last is %d, then errno %d\n", count, last, errno);
  fd_set set;
  FD_ZERO(&set);
  if (last >= 0) FD_SET(last, &set);
  timeval none = {};
  printf("select: %d\n", select(last + 1, &set, nullptr, nullptr, &none));
  Allocate(100);
  usleep(150'000);  // past the first checkpoint
  const pid_t child = fork();
  if (child == 0) {
    Allocate(100);
    exit(4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child: %x\n", status);
  PrintLimit("nofile", RLIMIT_NOFILE);
  return 3;
}

int FileSize(rlim_t bytes) {
  Limit(RLIMIT_FSIZE, bytes);
  signal(SIGXFSZ, [](int) { write(1, "SIGXFSZ\n", 8); });
  Allocate(100);
  usleep(150'000);
  Allocate(100);
  const int fd = open("own", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const std::string block(700, 'x');
  ssize_t all = 0;
  for (ssize_t n; all < 100'000 && (n = write(fd, block.data(), block.size())) > 0;) all += n;
  printf("%zd bytes written, then errno %d\n", all, all < 100'000 ? errno : 0);
  PrintLimit("fsize", RLIMIT_FSIZE);
  return 3;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string what = argv[1];
  const auto value = static_cast<rlim_t>(atol(argv[2]));
  setvbuf(stdout, nullptr, _IONBF, 0);
  int status = 2;
  if (what == "memlock") status = LockedMemory(value);
  if (what == "nofile") status = OpenFiles(value);
  if (what == "fsize") status = FileSize(value);
  own_state::PrintSignals();
  return status;
}
