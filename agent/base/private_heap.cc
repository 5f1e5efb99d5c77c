#include "agent/base/private_heap.h"

#include <bit>
#include <cstdint>

#include "agent/base/arena.h"

namespace memagent::base {
namespace {

constexpr size_t kSmallest = 16;
constexpr size_t kLargestClass = size_t{256} << 10;
constexpr size_t kRefillBytes = size_t{64} << 10;
constexpr int kClassCount = 2 * 15 + 1;  // 16, 24, 32, 48, ... 256 KiB

struct FreeBlock {
  FreeBlock* next;
};

struct Heap {
  FreeBlock* free[kClassCount] = {};
  char* bump = nullptr;
  char* bump_end = nullptr;
};
constinit Heap heap;

// Index of the smallest class that holds `size`: two classes to each power of two.
int ClassOf(size_t size) {
  if (size <= kSmallest) return 0;
  const int log = std::bit_width(size - 1) - 1;  // 2^log < size <= 2^(log+1)
  const size_t half = (size_t{1} << log) + (size_t{1} << (log - 1));
  return 2 * (log - 4) + (size <= half ? 1 : 2);
}

size_t ClassSize(int index) {
  const size_t power = kSmallest << (index / 2);
  return index % 2 == 0 ? power : power + power / 2;
}

void* TakeFresh(size_t size) {
  if (static_cast<size_t>(heap.bump_end - heap.bump) < size) {
    const size_t chunk = size > kRefillBytes ? size : kRefillBytes;
    heap.bump = static_cast<char*>(ArenaAllocate(chunk));
    if (heap.bump == nullptr) {
      heap.bump_end = nullptr;
      return nullptr;
    }
    heap.bump_end = heap.bump + chunk;
  }
  void* block = heap.bump;
  heap.bump += size;
  return block;
}

size_t RoundToPages(size_t size) { return (size + 4095) & ~size_t{4095}; }

}  // namespace

void* HeapAllocate(size_t size) {
  if (size > kLargestClass) return MapPages(RoundToPages(size), MemoryUse::kDrain);
  const int index = ClassOf(size);
  if (FreeBlock* block = heap.free[index]) {
    heap.free[index] = block->next;
    return block;
  }
  return TakeFresh((ClassSize(index) + 15) & ~size_t{15});
}

void HeapFree(void* block, size_t size) {
  if (block == nullptr) return;
  if (size > kLargestClass) {
    UnmapPages(block, RoundToPages(size), MemoryUse::kDrain);
    return;
  }
  auto* freed = static_cast<FreeBlock*>(block);
  FreeBlock*& head = heap.free[ClassOf(size)];
  freed->next = head;
  head = freed;
}

void HeapReset() { heap = Heap{}; }

}  // namespace memagent::base
