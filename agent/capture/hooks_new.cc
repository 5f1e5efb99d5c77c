// operator new and delete.
//
// Most programs' operator new is libstdc++'s, which calls malloc: the malloc hook sees it, and the
// hook here is a plain jump that leaves no frame. Only where new and malloc come from one allocator
// (jemalloc, tcmalloc, mimalloc), which serves new without calling malloc, do these hooks record
// (pitfalls P53: count at one level).
//
// A program without libstdc++ in its global scope (C, or one that loads C++ plug-ins later) has no
// next operator new: then these do what libstdc++'s do, on malloc and free. Nothing here throws;
// when memory is exhausted the operator new of the loaded libstdc++ is called to do so.
#include <cstddef>

#include "agent/capture/hooks.h"
#include "agent/ledger/thread_state.h"

namespace memagent::capture {
namespace {

// A default alignment, for one code path with and without alignment.
constexpr size_t kMallocAlignment = 16;

bool RecordsNew() { return NewBypassesMalloc(); }

// Memory has run out: new_handler and bad_alloc are the business of the program's own libstdc++,
// which a plug-in may have brought.
[[gnu::noinline, gnu::cold]] void* NewOfLibrary(const char* symbol, size_t size, size_t alignment) {
  void* function = FindNext(symbol);
  if (function == nullptr) real.abort();
  return reinterpret_cast<void* (*)(size_t, size_t)>(function)(size, alignment);
}

// malloc or aligned_alloc, the program's: what is ahead of ours records itself, or nobody does.
void* AllocateAsProgram(size_t size, size_t alignment, HookFrame caller) {
  const bool plain = alignment <= kMallocAlignment;
  const size_t padded = (size + alignment - 1) & ~(alignment - 1);
  if (heap_ahead.malloc != nullptr && plain) return heap_ahead.malloc(size);
  if (heap_ahead.aligned_alloc != nullptr && !plain) {
    return heap_ahead.aligned_alloc(alignment, padded);
  }
  void* block = plain ? real.malloc(size) : real.aligned_alloc(alignment, padded);
  if (block != nullptr) RecordAllocation(block, size, caller);
  return block;
}

// What libstdc++'s operator new does, where there is none to call.
void* NewOnMalloc(size_t size, size_t alignment, bool may_fail, const char* symbol,
                  HookFrame caller) {
  if (size == 0) size = 1;
  void* block = RealReady() ? AllocateAsProgram(size, alignment, caller) : nullptr;
  if (block == nullptr && !may_fail) return NewOfLibrary(symbol, size, alignment);
  return block;
}

// The allocator's operator new may have come through malloc after all: then the block is known, or
// was left out, which `left_out`, the count from before, tells.
inline void* RecordedNew(void* block, uint64_t left_out, size_t size, HookFrame caller) {
  ledger::Block known;
  if (block != nullptr && !ledger::FindBlock(reinterpret_cast<uint64_t>(block), known) &&
      left_out == LeftOutCount()) {
    RecordAllocation(block, size, caller);
  }
  return block;
}

void DeleteOnMalloc(void* block) {
  if (block == nullptr || !RealReady()) return;
  if (heap_ahead.free != nullptr) return heap_ahead.free(block);
  RecordFree(block);
  real.free(block);
}

}  // namespace
}  // namespace memagent::capture

using namespace memagent::capture;  // NOLINT: the hooks below are C functions
namespace ledger = memagent::ledger;

// MEMAGENT_NEW(field, symbol, may_fail, alignment, parameters, arguments)
#define MEMAGENT_NEW(field, symbol, may_fail, alignment, parameters, arguments) \
  MEMAGENT_HOOK void* hook_##field parameters asm(symbol);                      \
  void* hook_##field parameters {                                               \
    if (!RealReady() || real.field == nullptr)                                  \
      return NewOnMalloc(size, alignment, may_fail, symbol, MEMAGENT_CALLER()); \
    if (__builtin_expect(RecordsNew(), 0)) {                                    \
      const uint64_t left_out = LeftOutCount();                                 \
      void* block = real.field arguments;                                       \
      return RecordedNew(block, left_out, size, MEMAGENT_CALLER());             \
    }                                                                           \
    return real.field arguments;                                                \
  }

MEMAGENT_NEW(new_one, "_Znwm", false, kMallocAlignment, (size_t size), (size))
MEMAGENT_NEW(new_array, "_Znam", false, kMallocAlignment, (size_t size), (size))
MEMAGENT_NEW(new_one_nothrow, "_ZnwmRKSt9nothrow_t", true, kMallocAlignment,
             (size_t size, const void* tag), (size, tag))
MEMAGENT_NEW(new_array_nothrow, "_ZnamRKSt9nothrow_t", true, kMallocAlignment,
             (size_t size, const void* tag), (size, tag))
MEMAGENT_NEW(new_one_aligned, "_ZnwmSt11align_val_t", false, align, (size_t size, size_t align),
             (size, align))
MEMAGENT_NEW(new_array_aligned, "_ZnamSt11align_val_t", false, align, (size_t size, size_t align),
             (size, align))
MEMAGENT_NEW(new_one_aligned_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t", true, align,
             (size_t size, size_t align, const void* tag), (size, align, tag))
MEMAGENT_NEW(new_array_aligned_nothrow, "_ZnamSt11align_val_tRKSt9nothrow_t", true, align,
             (size_t size, size_t align, const void* tag), (size, align, tag))

#define MEMAGENT_DELETE(field, symbol, parameters, arguments)                \
  MEMAGENT_HOOK void hook_##field parameters asm(symbol);                    \
  void hook_##field parameters {                                             \
    if (!RealReady() || real.field == nullptr) return DeleteOnMalloc(block); \
    if (__builtin_expect(RecordsNew(), 0) && block != nullptr) {             \
      RecordFree(block);                                                     \
      ledger::thread_state.depth += ledger::kForwarding;                     \
      real.field arguments;                                                  \
      ledger::thread_state.depth -= ledger::kForwarding;                     \
      return;                                                                \
    }                                                                        \
    return real.field arguments;                                             \
  }

MEMAGENT_DELETE(delete_one, "_ZdlPv", (void* block), (block))
MEMAGENT_DELETE(delete_array, "_ZdaPv", (void* block), (block))
MEMAGENT_DELETE(delete_one_nothrow, "_ZdlPvRKSt9nothrow_t", (void* block, const void* tag),
                (block, tag))
MEMAGENT_DELETE(delete_array_nothrow, "_ZdaPvRKSt9nothrow_t", (void* block, const void* tag),
                (block, tag))
MEMAGENT_DELETE(delete_one_sized, "_ZdlPvm", (void* block, size_t size), (block, size))
MEMAGENT_DELETE(delete_array_sized, "_ZdaPvm", (void* block, size_t size), (block, size))
MEMAGENT_DELETE(delete_one_aligned, "_ZdlPvSt11align_val_t", (void* block, size_t align),
                (block, align))
MEMAGENT_DELETE(delete_array_aligned, "_ZdaPvSt11align_val_t", (void* block, size_t align),
                (block, align))
MEMAGENT_DELETE(delete_one_aligned_nothrow, "_ZdlPvSt11align_val_tRKSt9nothrow_t",
                (void* block, size_t align, const void* tag), (block, align, tag))
MEMAGENT_DELETE(delete_array_aligned_nothrow, "_ZdaPvSt11align_val_tRKSt9nothrow_t",
                (void* block, size_t align, const void* tag), (block, align, tag))
MEMAGENT_DELETE(delete_one_sized_aligned, "_ZdlPvmSt11align_val_t",
                (void* block, size_t size, size_t align), (block, size, align))
MEMAGENT_DELETE(delete_array_sized_aligned, "_ZdaPvmSt11align_val_t",
                (void* block, size_t size, size_t align), (block, size, align))
