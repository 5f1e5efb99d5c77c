// Row P84: the program takes every descriptor number for itself while a profile is being written.
//
//   own_descriptors closefrom|close_range|dup2|loop
//
// Files named "host0" ... hold a pattern that must still be theirs at the end.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

constexpr int kNumbers = 200;

[[gnu::noinline]] void* alloc_between_closes() { return ground_truth::Kept<void>(malloc(123)); }

void Allocate(int count) {
  for (int i = 0; i < count; ++i) alloc_between_closes();
}

// Numbers 3 to 199 all become files of the host, opened to be appended to, as a log is.
void TakeAllNumbers() {
  for (int number = 3; number < kNumbers; ++number) {
    const std::string name = "host" + std::to_string(number % 4);
    const int fd = open(name.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0 || fd == number) continue;
    dup3(fd, number, O_CLOEXEC);
    if (fd > number) close(fd);
  }
}

void WriteAll() {
  for (int number = 3; number < kNumbers; ++number) {
    if (write(number, "host\n", 5) != 5) printf("number %d is not ours\n", number);
  }
}

void CloseAll(const std::string& how) {
  if (how == "closefrom") {
    closefrom(3);
  } else if (how == "close_range") {
    close_range(3, ~0u, 0);
  } else {
    for (int number = 3; number < 1024; ++number) close(number);
  }
}

// What daemons do with 0, 1 and 2, over and over, with another thread that allocates.
void CloseInALoop() {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop.load()) free(ground_truth::Kept<void>(malloc(50)));
  });
  for (int i = 0; i < 400; ++i) {
    close_range(3, ~0u, 0);
    TakeAllNumbers();
    usleep(500);
  }
  stop = true;
  other.join();
}

void PrintFiles() {
  for (int i = 0; i < 4; ++i) {
    struct stat facts = {};
    if (stat(("host" + std::to_string(i)).c_str(), &facts) == 0) {
      printf("host%d: %ld bytes\n", i, static_cast<long>(facts.st_size));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "closefrom";
  Allocate(100);
  CloseAll(how);
  TakeAllNumbers();
  WriteAll();
  if (how == "loop") CloseInALoop();
  usleep(150'000);  // the first checkpoint is written
  Allocate(100);
  WriteAll();
  CloseAll(how);
  TakeAllNumbers();
  usleep(1'000'000);  // the second one
  Allocate(100);
  WriteAll();
  PrintFiles();
  own_state::Print();
  return 3;
}
