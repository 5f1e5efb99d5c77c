#include "agent/ledger/hook_clock.h"

#include <sys/mman.h>

#include "agent/base/arena.h"
#include "agent/base/syscall.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

namespace memagent::ledger {
namespace {

// Far more than the heads of all rings can move, so that a change of the list never leaves the sum
// of heads what it was.
constexpr uint64_t kTurn = uint64_t{1} << 48;

constinit SampleWatch no_watch{0, SampleWatch::kReadCounter, {}, 0, 0};

SampleWatch& Watch() { return *sample_watch.load(std::memory_order_relaxed); }

bool Exists() { return &Watch() != &no_watch; }

void Turn(SampleWatch& watch) { watch.turn.fetch_add(kTurn, std::memory_order_release); }

void PublishRings(SampleWatch& watch) {
  const bool all = watch.unwatched_rings == 0 && Exists();
  watch.rings.store(all ? watch.watched_rings : SampleWatch::kReadCounter,
                    std::memory_order_release);
  Turn(watch);
}

}  // namespace

constinit std::atomic<SampleWatch*> sample_watch{&no_watch};

EventTime ReadHookClock(HookClock& clock, uint64_t samples_seen) {
  clock.ticks = os::ReadTsc();
  const EventTime now = FromTsc(clock.ticks);
  // Only a reading within one unit of the last is moved on: that of a thread which has slept for half
  // a wrap is not in the future.
  constexpr uint32_t kMaxAhead = 1u << 16;
  clock.time = clock.time - now < kMaxAhead ? clock.time + 1 : now;
  clock.samples_seen = samples_seen;
  return clock.time;
}

void StartSampleWatch() {
  if (!Exists()) {
    constexpr size_t kBytes = 4096;
    auto* fresh = static_cast<SampleWatch*>(base::MapPages(kBytes, base::MemoryUse::kIndex));
    if (fresh == nullptr) return;
    if (base::Syscall(SYS_madvise, fresh, kBytes, MADV_WIPEONFORK) != 0) {
      return base::UnmapPages(fresh, kBytes, base::MemoryUse::kIndex);
    }
    sample_watch.store(fresh, std::memory_order_release);
  }
  SampleWatch& watch = Watch();
  watch.turn.store(kTurn, std::memory_order_relaxed);
  watch.watched_rings = 0;
  watch.unwatched_rings = 0;
  PublishRings(watch);
}

bool CanWatchRing(bool grows) {
  return Exists() && Watch().watched_rings < kWatchedRings - (grows ? 0 : 1);
}

void AddRing(const SampleWatch::Head* head) {
  SampleWatch& watch = Watch();
  if (head == nullptr) {
    ++watch.unwatched_rings;
  } else {
    watch.heads[watch.watched_rings++].store(head, std::memory_order_relaxed);
  }
  PublishRings(watch);
}

// The last of the watched takes the place. A hook that looks meanwhile may count it twice or not at
// all: in a sum of before the turn, which is void.
void RemoveRing(const SampleWatch::Head* head) {
  SampleWatch& watch = Watch();
  if (head == nullptr) {
    --watch.unwatched_rings;
    return PublishRings(watch);
  }
  const auto& last = watch.heads[--watch.watched_rings];
  for (auto& place : watch.heads) {
    if (place.load(std::memory_order_relaxed) == head) place.store(last.load());
  }
  PublishRings(watch);
}

void TurnHookClocks() { Turn(Watch()); }

}  // namespace memagent::ledger
