// Rows P83, P89: what becomes of the standard streams.
//
//   standard_streams reuse     closes 0, 1 and 2 and opens its data there
//   standard_streams quiet     writes nothing at all
//   standard_streams full      fills the pipe that is its stderr, and ends
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/programs/ground_truth.h"

namespace {

[[gnu::noinline]] void* alloc_quietly() { return ground_truth::Kept<void>(malloc(700)); }

int Reuse() {
  for (int number = 0; number < 3; ++number) close(number);
  const int flags = O_RDWR | O_CREAT | O_APPEND;
  const int first = open("data0", flags, 0644);
  const int second = open("data1", flags, 0644);
  const int third = open("data2", flags, 0644);
  if (first != 0 || second != 1 || third != 2) return 9;
  for (int number = 0; number < 3; ++number) {
    if (write(number, "host\n", 5) != 5) return 8;
  }
  return 3;
}

int FillStderr() {
  const int flags = fcntl(2, F_GETFL);
  fcntl(2, F_SETFL, flags | O_NONBLOCK);
  const std::string block(4096, 'e');
  while (write(2, block.data(), block.size()) > 0) {
  }
  fcntl(2, F_SETFL, flags);
  return 3;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  for (int i = 0; i < 100; ++i) alloc_quietly();
  if (what == "reuse") return Reuse();
  if (what == "full") return FillStderr();
  return 3;
}
