// Row P81: code whose file has no name any more.
//
//   unnamed_files deleted          the program deletes its own executable
//   unnamed_files memfd PLUGIN     a plug-in loaded from a memfd
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/programs/ground_truth.h"

namespace {

[[gnu::noinline]] void* alloc_in_deleted() { return ground_truth::Kept<void>(malloc(1000)); }

int Deleted() {
  char path[4096] = {};
  if (readlink("/proc/self/exe", path, sizeof(path) - 1) <= 0 || unlink(path) != 0) return 1;
  for (int i = 0; i < 100; ++i) free(alloc_in_deleted());
  return 0;
}

int FromMemory(const char* plugin) {
  const int file = open(plugin, O_RDONLY | O_CLOEXEC);
  const int copy = memfd_create("plugin", MFD_CLOEXEC);
  if (file < 0 || copy < 0) return 1;
  while (sendfile(copy, file, nullptr, 1 << 20) > 0) continue;
  void* library = dlopen(("/proc/self/fd/" + std::to_string(copy)).c_str(), RTLD_NOW);
  if (library == nullptr) return 1;
  close(copy);
  close(file);
  auto* answer = reinterpret_cast<int (*)()>(dlsym(library, "hidden_answer"));
  for (int i = 0; i < 100; ++i) {
    if (answer == nullptr || answer() != 42) return 1;
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string_view what = count > 1 ? words[1] : "";
  const int status = what == "deleted" ? Deleted() : count > 2 ? FromMemory(words[2]) : 2;
  printf("%s ended with %d\n", words[1], status);
  return status;
}
