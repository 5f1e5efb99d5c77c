// malloc and its family.
#include <errno.h>

#include <cstring>

#include "agent/capture/bootstrap_heap.h"
#include "agent/capture/hooks.h"

namespace memagent::capture {
namespace {

inline void* Recorded(void* block, size_t size, HookFrame caller) {
  if (__builtin_expect(block != nullptr, 1)) RecordAllocation(block, size, caller);
  return block;
}

// realloc of a bootstrap block: it stays where it is for ever, its contents move.
void* MoveOutOfBootstrap(void* block, size_t size, HookFrame caller) {
  void* fresh = RealReady() ? real.malloc(size) : BootstrapAllocate(size, 16);
  if (fresh == nullptr) return nullptr;
  const size_t old_size = BootstrapBlockSize(block);
  memcpy(fresh, block, old_size < size ? old_size : size);
  return RealReady() ? Recorded(fresh, size, caller) : fresh;
}

void* Reallocate(void* block, size_t size, HookFrame caller) {
  if (__builtin_expect(IsBootstrapBlock(block), 0)) return MoveOutOfBootstrap(block, size, caller);
  if (!RealReady()) return BootstrapAllocate(size, 16);
  const ReallocUndo undo = block != nullptr ? RecordReallocStart(block) : ReallocUndo{};
  void* result = real.realloc(block, size);
  // realloc(block, 0) that returns nullptr has freed the block; any other nullptr has not.
  if (result == nullptr && size != 0) RecordReallocFailed(undo);
  return Recorded(result, size, caller);
}

// The allocator lacks the function: what glibc does in its place.
void* OutOfMemory() {
  errno = ENOMEM;
  return nullptr;
}

// For functions that glibc makes of realloc or lacks: what a call of the program's own would do.
void* ReallocateAsProgram(void* block, size_t size, HookFrame caller) {
  if (RealReady() && heap_ahead.realloc != nullptr) return heap_ahead.realloc(block, size);
  return Reallocate(block, size, caller);
}

inline bool PrepareFree(void* block) {
  if (block == nullptr || __builtin_expect(IsBootstrapBlock(block), 0)) return false;
  if (__builtin_expect(!RealReady(), 0)) return false;
  RecordFree(block);
  return true;
}

void FreeAsProgram(void* block) {
  if (RealReady() && heap_ahead.free != nullptr) return heap_ahead.free(block);
  if (PrepareFree(block)) real.free(block);
}

}  // namespace
}  // namespace memagent::capture

using namespace memagent::capture;  // NOLINT: the hooks below are C functions

MEMAGENT_HOOK void* malloc(size_t size) {
  if (!RealReady()) return BootstrapAllocate(size, 16);
  return Recorded(real.malloc(size), size, MEMAGENT_CALLER());
}

MEMAGENT_HOOK void* calloc(size_t count, size_t size) {
  size_t bytes;
  if (!RealReady()) {
    return __builtin_mul_overflow(count, size, &bytes) ? nullptr : BootstrapAllocate(bytes, 16);
  }
  return Recorded(real.calloc(count, size), count * size, MEMAGENT_CALLER());
}

MEMAGENT_HOOK void* realloc(void* block, size_t size) {
  return Reallocate(block, size, MEMAGENT_CALLER());
}

MEMAGENT_HOOK void* reallocarray(void* block, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return OutOfMemory();
  return ReallocateAsProgram(block, bytes, MEMAGENT_CALLER());
}

MEMAGENT_HOOK void free(void* block) {
  if (PrepareFree(block)) real.free(block);
}

MEMAGENT_HOOK void cfree(void* block) { FreeAsProgram(block); }

// C23 defines both as equivalent to free for a right size, and libc's up to 2.42 lack them.
MEMAGENT_HOOK void free_sized(void* block, size_t) { FreeAsProgram(block); }

MEMAGENT_HOOK void free_aligned_sized(void* block, size_t, size_t) { FreeAsProgram(block); }

MEMAGENT_HOOK void* memalign(size_t alignment, size_t size) {
  if (!RealReady()) return BootstrapAllocate(size, alignment);
  if (real.memalign == nullptr) return OutOfMemory();
  return Recorded(real.memalign(alignment, size), size, MEMAGENT_CALLER());
}

MEMAGENT_HOOK void* aligned_alloc(size_t alignment, size_t size) {
  if (!RealReady()) return BootstrapAllocate(size, alignment);
  if (real.aligned_alloc == nullptr) return OutOfMemory();
  return Recorded(real.aligned_alloc(alignment, size), size, MEMAGENT_CALLER());
}

MEMAGENT_HOOK int posix_memalign(void** block, size_t alignment, size_t size) {
  if (!RealReady()) {
    *block = BootstrapAllocate(size, alignment);
    return *block == nullptr ? ENOMEM : 0;
  }
  if (real.posix_memalign == nullptr) return ENOMEM;
  const int error = real.posix_memalign(block, alignment, size);
  if (error == 0) Recorded(*block, size, MEMAGENT_CALLER());
  return error;
}

MEMAGENT_HOOK void* valloc(size_t size) {
  if (!RealReady()) return BootstrapAllocate(size, 4096);
  if (real.valloc == nullptr) return OutOfMemory();
  return Recorded(real.valloc(size), size, MEMAGENT_CALLER());
}

MEMAGENT_HOOK void* pvalloc(size_t size) {
  if (!RealReady()) return BootstrapAllocate((size + 4095) & ~size_t{4095}, 4096);
  if (real.pvalloc == nullptr) return OutOfMemory();
  return Recorded(real.pvalloc(size), size, MEMAGENT_CALLER());
}

MEMAGENT_HOOK size_t malloc_usable_size(void* block) {
  if (IsBootstrapBlock(block)) return BootstrapBlockSize(block);
  return RealReady() && real.malloc_usable_size != nullptr ? real.malloc_usable_size(block) : 0;
}
