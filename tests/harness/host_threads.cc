#include "tests/harness/host_threads.h"

#include <sys/mman.h>

#include <cstdlib>
#include <utility>

#include "agent/capture/recorder.h"
#include "agent/capture/thread_start.h"
#include "agent/ledger/thread_state.h"
#include "agent/os/tsc.h"

namespace memagent::harness {
namespace {

constexpr size_t kMappingBytes = size_t{64} << 10;

template <int kPlace>
[[gnu::noinline]] void* AllocateAt(size_t bytes) {
  void* block = malloc(bytes + kPlace);
  capture::RecordAllocation(block, bytes + kPlace, MEMAGENT_CALLER());
  return block;
}

}  // namespace

void Graveyard::Add(ledger::ThreadRecord* record) {
  const std::lock_guard lock(mutex_);
  if (record != nullptr) records_.push_back(record);
}

std::vector<ledger::ThreadRecord*> Graveyard::TakeAll() {
  const std::lock_guard lock(mutex_);
  return std::exchange(records_, {});
}

void* Allocate(uint64_t choice, Truth& truth) {
  constexpr void* (*kPlaces[])(size_t) = {AllocateAt<0>, AllocateAt<1>, AllocateAt<2>};
  const uint64_t place = choice % 3;
  // Some of 63 bytes or more (two slots), some of 16 KiB or more (markers).
  const uint64_t size = choice % 64 == 0 ? 20'000 : 1 + choice / 64 % 300;
  truth.allocations.fetch_add(1, std::memory_order_relaxed);
  truth.bytes.fetch_add(size + place, std::memory_order_relaxed);
  return kPlaces[place](size);
}

void Free(void* block) {
  capture::RecordFree(block);
  free(block);
}

void MapAndUnmap() {
  void* start = mmap(nullptr, kMappingBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  using Kind = ledger::RegionEvent::Kind;
  capture::RecordMap(Kind::kMap, RegionKind::kMmap, start, kMappingBytes, os::ReadTsc(),
                     MEMAGENT_CALLER());
  capture::RecordUnmap(Kind::kUnmap, start, kMappingBytes, os::ReadTsc());
  munmap(start, kMappingBytes);
}

HostThreads::HostThreads(uint32_t count, uint32_t rounds, Truth& truth, Graveyard& graveyard)
    : truth_(truth), graveyard_(graveyard) {
  for (uint32_t i = 0; i < count; ++i) mailboxes_.push_back(std::make_unique<Mailbox>());
  for (uint32_t i = 0; i < count; ++i) threads_.emplace_back([=, this] { Run(i, rounds); });
}

void HostThreads::Run(uint32_t index, uint32_t rounds) {
  Mailbox& mine = *mailboxes_[index];
  Mailbox& next = *mailboxes_[(index + 1) % mailboxes_.size()];
  capture::ExpectThread();
  capture::RecordThreadStart(ledger::kUnnumbered);
  uint64_t random = index + 1;
  for (uint32_t i = 0; i < rounds; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX generator
    void* block = Allocate(random >> 20, truth_);
    if (!next.Send(block)) Free(block);
    mine.Empty(Free);
    if (i % 64 == 0) MapAndUnmap();
  }
  graveyard_.Add(ledger::thread_state.record);
}

void HostThreads::Join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  for (const auto& mailbox : mailboxes_) mailbox->Empty(Free);
}

}  // namespace memagent::harness
