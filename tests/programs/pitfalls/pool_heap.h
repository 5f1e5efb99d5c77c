// A heap on one mapping that gives nothing back. A block that it did not hand out ends the program:
// whoever mixes two heaps is found at once (row P55).
#ifndef MEMAGENT_TESTS_PROGRAMS_PITFALLS_POOL_HEAP_H_
#define MEMAGENT_TESTS_PROGRAMS_PITFALLS_POOL_HEAP_H_

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pool_heap {

inline constexpr size_t kBytes = size_t{64} << 20;
inline constexpr uint64_t kMagic = 0x706f6f6c68656170;

struct Header {
  uint64_t magic;
  size_t size;
};

inline std::atomic<char*> pool{nullptr};
inline std::atomic<size_t> used{0};

inline char* Pool() {
  char* known = pool.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  void* fresh = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) _exit(71);
  if (pool.compare_exchange_strong(known, static_cast<char*>(fresh))) {
    return static_cast<char*>(fresh);
  }
  munmap(fresh, kBytes);
  return known;
}

inline void* Allocate(size_t size, size_t alignment = 16) {
  if (size > kBytes / 2 || alignment > kBytes / 2) {
    errno = ENOMEM;
    return nullptr;
  }
  char* start = Pool();
  const size_t room = (size + alignment + sizeof(Header) + 15) & ~size_t{15};
  const size_t offset = used.fetch_add(room);
  if (offset + room > kBytes) {
    errno = ENOMEM;
    return nullptr;
  }
  const auto first = reinterpret_cast<uintptr_t>(start) + offset + sizeof(Header);
  auto* block = reinterpret_cast<char*>((first + alignment - 1) & ~(alignment - 1));
  *reinterpret_cast<Header*>(block - sizeof(Header)) = {kMagic, size};
  return block;
}

inline size_t SizeOf(void* block) {
  const auto* header = reinterpret_cast<Header*>(static_cast<char*>(block) - sizeof(Header));
  const bool inside =
      static_cast<char*>(block) > Pool() && static_cast<char*>(block) < Pool() + kBytes;
  if (!inside || header->magic != kMagic) _exit(72);
  return header->size;
}

inline void Free(void* block) {
  if (block != nullptr) SizeOf(block);
}

inline void* Reallocate(void* block, size_t size) {
  void* fresh = Allocate(size);
  if (block == nullptr || fresh == nullptr) return fresh;
  const size_t old_size = SizeOf(block);
  memcpy(fresh, block, old_size < size ? old_size : size);
  return fresh;
}

}  // namespace pool_heap

#endif  // MEMAGENT_TESTS_PROGRAMS_PITFALLS_POOL_HEAP_H_
