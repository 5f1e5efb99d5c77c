// A heap for the cold stages, made of mmapped chunks: the drain thread must not allocate from the
// host's heap, whose state and locks are the host's own.
//
// One thread at a time (the drain thread, or the exiting thread once the drain thread is gone).
// Size classes are powers of two with two steps each; blocks over 256 KiB are mapped directly.
// After fork() the child calls Reset(): what the parent's drain thread left half done is abandoned.
#ifndef MEMAGENT_AGENT_BASE_PRIVATE_HEAP_H_
#define MEMAGENT_AGENT_BASE_PRIVATE_HEAP_H_

#include <cstddef>

namespace memagent::base {

// nullptr only when the kernel refuses memory.
void* HeapAllocate(size_t size);
// `size` must be the size given to HeapAllocate.
void HeapFree(void* block, size_t size);
// Forgets every block (child of fork only).
void HeapReset();

// Allocator for standard containers in cold stages. Out of memory traps the drain thread's work:
// see std_throw.cc; the containers here are bounded, so this means the machine is out of memory.
template <typename T>
struct Allocator {
  using value_type = T;
  Allocator() = default;
  template <typename U>
  Allocator(const Allocator<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(HeapAllocate(n * sizeof(T))); }
  void deallocate(T* p, size_t n) { HeapFree(p, n * sizeof(T)); }
  template <typename U>
  bool operator==(const Allocator<U>&) const { return true; }
};

}  // namespace memagent::base

#endif  // MEMAGENT_AGENT_BASE_PRIVATE_HEAP_H_
