#include "agent/base/arena.h"

#include <errno.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "agent/base/syscall.h"

namespace memagent::base {
namespace {

// Big enough that mapping is rare, small enough not to show in a small program's address space.
constexpr size_t kChunkSize = size_t{1} << 20;

// The current chunk: its first 16 bytes hold how much of it is taken.
struct Chunk {
  std::atomic<size_t> used;
};
constinit std::atomic<Chunk*> current_chunk{nullptr};

// Both return a negative errno on failure.
#if defined(__SANITIZE_THREAD__)
// Tests only: TSan takes new memory at an old address for the old memory unless libc mapped it.
long KeepErrno(long result, int before) {
  const long kept = result < 0 ? -errno : result;
  errno = before;
  return kept;
}
long Map(size_t size) {
  const int before = errno;
  void* start = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return KeepErrno(start == MAP_FAILED ? -1 : reinterpret_cast<long>(start), before);
}
long Unmap(void* start, size_t size) {
  const int before = errno;
  return KeepErrno(munmap(start, size), before);
}
#else
long Map(size_t size) {
  return Syscall(SYS_mmap, nullptr, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}
long Unmap(void* start, size_t size) { return Syscall(SYS_munmap, start, size); }
#endif

// A block of `size` bytes at the right alignment inside `chunk`, or nullptr when it is full.
void* TakeFrom(Chunk* chunk, size_t size, size_t alignment) {
  const size_t padded = size + alignment - 1;
  const size_t offset = chunk->used.fetch_add(padded, std::memory_order_relaxed);
  if (offset + padded > kChunkSize) return nullptr;
  const uintptr_t start = reinterpret_cast<uintptr_t>(chunk) + offset;
  return reinterpret_cast<void*>((start + alignment - 1) & ~(alignment - 1));
}

}  // namespace

void* MapPages(size_t size, MemoryUse use) {
  const long result = Map(size);
  if (result < 0 && result > -4096) return nullptr;
  auto* start = reinterpret_cast<void*>(result);
  NoteMapped(start, size, use);
  return start;
}

void UnmapPages(void* start, size_t size, MemoryUse use) {
  NoteUnmapped(start, size, use);
  Unmap(start, size);
}

void* ArenaAllocate(size_t size, size_t alignment) {
  if (size > kChunkSize / 4) return MapPages((size + 4095) & ~size_t{4095}, MemoryUse::kArena);
  while (true) {
    Chunk* chunk = current_chunk.load(std::memory_order_acquire);
    if (chunk != nullptr) {
      if (void* block = TakeFrom(chunk, size, alignment)) return block;
    }
    auto* fresh = static_cast<Chunk*>(MapPages(kChunkSize, MemoryUse::kArena));
    if (fresh == nullptr) return nullptr;
    fresh->used.store(64, std::memory_order_relaxed);
    if (!current_chunk.compare_exchange_strong(chunk, fresh, std::memory_order_acq_rel)) {
      UnmapPages(fresh, kChunkSize, MemoryUse::kArena);  // another thread was faster: use its chunk
    }
  }
}

}  // namespace memagent::base
