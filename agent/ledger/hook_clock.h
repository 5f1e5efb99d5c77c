// The time of allocation events, without reading a clock for each.
//
// Times are only ever compared with the times of samples: what matters is which samples were taken
// before an event. The kernel tells that itself: it moves the head of a thread's ring with every
// sample, before the sampled thread goes on. So a thread remembers the sum of all heads and the
// time it read then, and while the sum stays the same every event gets that same time: no sample
// lies between. Reading the time-stamp counter costs 9 to 13 ns here, twice in each malloc and
// free; reading the heads costs 2.
//
// Why that is exact: an event of thread Y that comes after a sampled access of thread Z, because
// the program orders the two, comes after the interrupt in Z that wrote the sample, so Y sees the
// head moved. For accesses that the program does not order, either answer is right. It needs a
// kernel that writes a sample before the sampled thread goes on, which holds for the software
// events; an engine that buffers samples in hardware must not be watched.
//
// Up to six rings are watched, since each is a cache line more to look at; with more, or while
// some ring is not watched, each event reads the counter.
//
// The ring of a thread that ended must stay readable for ever, because a hook may be about to look
// at it (os::PerfRing::Vacate). In a child of fork no ring is mapped: the kernel wipes the page
// with this list (MADV_WIPEONFORK, Linux 4.14), whoever forks and however.
#ifndef MEMAGENT_AGENT_LEDGER_HOOK_CLOCK_H_
#define MEMAGENT_AGENT_LEDGER_HOOK_CLOCK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/ledger/event_time.h"

namespace memagent::ledger {

// Heads lie at one offset of their pages, hence in one set of an 8-way first-level cache. The last
// place is for a ring that grows: for a moment it is there twice.
inline constexpr size_t kWatchedRings = 7;

// In memory that a fork zeroes: then there are no rings and no samples, until the child's own drain
// thread starts.
struct SampleWatch {
  using Head = std::atomic<uint64_t>;
  static constexpr uint64_t kReadCounter = ~uint64_t{0};
  std::atomic<uint64_t> turn;   // moved by the drain thread whenever times must be read anew
  std::atomic<uint64_t> rings;  // or kReadCounter
  std::atomic<const Head*> heads[kWatchedRings];  // the first `rings` are in use
  // Of the drain thread alone.
  uint64_t watched_rings;
  uint64_t unwatched_rings;
};
extern std::atomic<SampleWatch*> sample_watch;

// A thread's last reading.
struct HookClock {
  static constexpr uint64_t kStale = ~uint64_t{0};  // as samples_seen: the next event reads anew
  EventTime time;
  uint64_t samples_seen;
  uint64_t ticks;  // the reading itself
};

// Reads the counter; later than every time this thread has read before.
EventTime ReadHookClock(HookClock& clock, uint64_t samples_seen);

// The time of an event of the calling thread, whose clock this is.
[[gnu::always_inline]] inline EventTime HookTime(HookClock& clock) {
  const SampleWatch& watch = *sample_watch.load(std::memory_order_relaxed);
  uint64_t samples = watch.turn.load(std::memory_order_acquire);
  const uint64_t rings = watch.rings.load(std::memory_order_acquire);
  if (rings == SampleWatch::kReadCounter) [[unlikely]]
    return Now();
  for (uint64_t i = 0; i < rings; ++i) {
    const SampleWatch::Head* head = watch.heads[i].load(std::memory_order_relaxed);
    if (head == nullptr) [[unlikely]]
      return Now();  // a fork wiped the page between two looks at it
    samples += head->load(std::memory_order_acquire);
  }
  if (samples == clock.samples_seen) [[likely]]
    return clock.time;
  return ReadHookClock(clock, samples);
}

// All below: the drain thread. Makes the list; until then, and where the kernel can't wipe it at a
// fork, each event reads the counter.
void StartSampleWatch();

// Whether another ring can be watched: one that `grows` out of one on the list, or a further one.
bool CanWatchRing(bool grows);

// A ring that begins to get samples: `head` is watched, or, nullptr, is one that is not. Called
// before its events are enabled.
void AddRing(const SampleWatch::Head* head);

// The same ring gets no more samples. `head` must stay readable afterwards.
void RemoveRing(const SampleWatch::Head* head);

// Times read so far have become too old to be told from new ones (event_time.h): called once a
// second.
void TurnHookClocks();

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_HOOK_CLOCK_H_
