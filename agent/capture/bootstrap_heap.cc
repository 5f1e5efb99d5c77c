#include "agent/capture/bootstrap_heap.h"

#include <atomic>

namespace memagent::capture {
namespace {

// Libraries whose preinit code runs first have been seen to need some KiB.
constexpr size_t kBytes = size_t{64} << 10;
constexpr size_t kHeader = 16;  // holds the size, keeps the alignment

alignas(4096) constinit char heap[kBytes] = {};
constinit std::atomic<size_t> used{0};
constinit std::atomic<uint64_t> allocations{0};

}  // namespace

void* BootstrapAllocate(size_t size, size_t alignment) {
  if (alignment < kHeader) alignment = kHeader;
  if (size > kBytes || alignment > kBytes) return nullptr;
  const size_t wanted = kHeader + size + alignment;
  const size_t offset = used.fetch_add((wanted + 15) & ~size_t{15}, std::memory_order_relaxed);
  if (offset + wanted > kBytes) return nullptr;
  const uintptr_t lowest = reinterpret_cast<uintptr_t>(heap) + offset + kHeader;
  auto* block = reinterpret_cast<char*>((lowest + alignment - 1) & ~(alignment - 1));
  *reinterpret_cast<size_t*>(block - kHeader) = size;
  allocations.fetch_add(1, std::memory_order_relaxed);
  return block;
}

bool IsBootstrapBlock(const void* block) {
  return reinterpret_cast<uintptr_t>(block) - reinterpret_cast<uintptr_t>(heap) < kBytes;
}

size_t BootstrapBlockSize(const void* block) {
  return *reinterpret_cast<const size_t*>(static_cast<const char*>(block) - kHeader);
}

uint64_t BootstrapAllocationCount() { return allocations.load(std::memory_order_relaxed); }

}  // namespace memagent::capture
