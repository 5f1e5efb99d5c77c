// Row P95: code that the program writes itself, and names for perf as JIT compilers do.
//
//   jit_code    calls malloc 100 times from generated code
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

// mov %rdi,%rax; mov %rsi,%rdi; sub $8,%rsp; call *%rax; add $8,%rsp; ret
constexpr unsigned char kAllocate[] = {0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x48, 0x83, 0xec,
                                       0x08, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};

}  // namespace

int main() {
  void* code = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, kAllocate, sizeof(kAllocate));
  mprotect(code, 4096, PROT_READ | PROT_EXEC);
  const std::string map = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  FILE* names = fopen(map.c_str(), "w");
  fprintf(names, "%lx %zx LazyCompile:*allocate /app/main.js:3:7\n",
          reinterpret_cast<unsigned long>(code), sizeof(kAllocate));
  fclose(names);
  const auto allocate = reinterpret_cast<void* (*)(void* (*)(size_t), size_t)>(code);
  int count = 0;
  for (int i = 0; i < 100; ++i) count += allocate(malloc, 640) != nullptr;
  printf("%d blocks\n", count);
  return 3;
}
