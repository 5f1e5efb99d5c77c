#include "agent/base/held_memory.h"

#include <algorithm>
#include <atomic>

#include "agent/base/syscall.h"

namespace memagent::base {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kPagesAtOnce = 1024;
// A thread has four mappings, a GiB of heap 32; what finds no room here is still counted.
constexpr size_t kListed = 4096;

constexpr uintptr_t kTaken = 1;  // a place that is being filled

struct Mapping {
  std::atomic<uintptr_t> start;  // 0: free
  std::atomic<size_t> size;
  std::atomic<MemoryUse> use;
};
constinit Mapping listed[kListed] = {};
constinit std::atomic<size_t> listed_end{0};  // no mapping is listed at or behind it
constinit std::atomic<int32_t> given_back{0};  // places before the end that are free
constinit std::atomic<uint64_t> mapped_bytes[kMemoryUses] = {};

Mapping* FindListed(uintptr_t start) {
  const size_t end = std::min(listed_end.load(std::memory_order_acquire), kListed);
  for (size_t i = 0; i < end; ++i) {
    if (listed[i].start.load(std::memory_order_relaxed) == start) return &listed[i];
  }
  return nullptr;
}

bool Take(Mapping& place) {
  uintptr_t free = 0;
  return place.start.compare_exchange_strong(free, kTaken, std::memory_order_acquire);
}

// A place of its own; nullptr when all are taken, or when another thread is faster.
Mapping* TakePlace() {
  if (given_back.load(std::memory_order_relaxed) > 0) {
    Mapping* place = FindListed(0);
    if (place != nullptr && Take(*place)) {
      given_back.fetch_sub(1, std::memory_order_relaxed);
      return place;
    }
  }
  if (listed_end.load(std::memory_order_relaxed) >= kListed) return nullptr;
  const size_t fresh = listed_end.fetch_add(1, std::memory_order_acq_rel);
  return fresh < kListed && Take(listed[fresh]) ? &listed[fresh] : nullptr;
}

uint64_t ResidentBytes(uintptr_t start, size_t size) {
  uint8_t pages[kPagesAtOnce];
  uint64_t resident = 0;
  for (size_t at = 0; at < size; at += kPagesAtOnce * kPage) {
    const size_t length = std::min(size - at, kPagesAtOnce * kPage);
    const size_t count = (length + kPage - 1) / kPage;
    // A mapping that is just being removed has no pages.
    if (Syscall(SYS_mincore, start + at, length, pages) != 0) continue;
    resident += static_cast<uint64_t>(
        std::count_if(pages, pages + count, [](uint8_t page) { return (page & 1) != 0; }));
  }
  return resident * kPage;
}

}  // namespace

void NoteMapped(void* start, size_t size, MemoryUse use) {
  mapped_bytes[static_cast<size_t>(use)].fetch_add(size, std::memory_order_relaxed);
  Mapping* place = TakePlace();
  if (place == nullptr) return;
  place->size.store(size, std::memory_order_relaxed);
  place->use.store(use, std::memory_order_relaxed);
  place->start.store(reinterpret_cast<uintptr_t>(start), std::memory_order_release);
}

void NoteUnmapped(void* start, size_t size, MemoryUse use) {
  mapped_bytes[static_cast<size_t>(use)].fetch_sub(size, std::memory_order_relaxed);
  Mapping* place = FindListed(reinterpret_cast<uintptr_t>(start));
  if (place == nullptr) return;
  place->start.store(0, std::memory_order_release);
  given_back.fetch_add(1, std::memory_order_relaxed);
}

size_t BytesMapped() {
  uint64_t sum = 0;
  for (const auto& bytes : mapped_bytes) sum += bytes.load(std::memory_order_relaxed);
  return sum;
}

HeldBytes ReadHeld(MemoryUse use) {
  HeldBytes held;
  held.mapped = mapped_bytes[static_cast<size_t>(use)].load(std::memory_order_relaxed);
  uint64_t seen = 0;
  const size_t end = std::min(listed_end.load(std::memory_order_acquire), kListed);
  for (size_t i = 0; i < end; ++i) {
    const uintptr_t start = listed[i].start.load(std::memory_order_acquire);
    if (start <= kTaken || listed[i].use.load(std::memory_order_relaxed) != use) continue;
    const size_t size = listed[i].size.load(std::memory_order_relaxed);
    seen += size;
    held.resident += ResidentBytes(start, size);
  }
  if (held.mapped > seen) held.resident += held.mapped - seen;
  return held;
}

}  // namespace memagent::base
