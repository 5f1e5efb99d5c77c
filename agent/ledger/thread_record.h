// What the agent knows of one thread, and the registry of all of them.
//
// A record is written by its thread and read by the drain thread. It outlives the thread: the drain
// thread gives it back only when the kernel says that the thread is gone, so that frees which glibc
// makes while a thread dies still find it (pitfalls P21).
#ifndef MEMAGENT_AGENT_LEDGER_THREAD_RECORD_H_
#define MEMAGENT_AGENT_LEDGER_THREAD_RECORD_H_

#include <atomic>
#include <cstdint>

#include "agent/base/types.h"
#include "agent/ledger/allocation_sampler.h"
#include "agent/ledger/counter_cache.h"
#include "agent/ledger/hook_clock.h"
#include "agent/ledger/shadow_map.h"
#include "agent/ledger/spsc_ring.h"
#include "agent/ledger/untracked.h"

namespace memagent::ledger {

// A change of the address space that a thread made through libc.
struct RegionEvent {
  enum class Kind : uint8_t { kMap, kUnmap, kRemap, kBreak, kAttach, kDetach };
  Kind kind;
  RegionKind region;  // kMap: kMmap for anonymous memory, kFile for a file mapping
  uint16_t flags;     // MAP_* low bits
  SiteId site;
  uint64_t tsc;  // full time-stamp counter after the call
  uint64_t start;
  uint64_t size;
  uint64_t old_start;  // kRemap
  uint64_t old_size;   // kRemap
};

// 16,384 blocks of history cover 10 ms at 600 ns for each allocation; the drain thread is woken
// before it is full, so a faster program is drained more often.
inline constexpr size_t kHistoryCapacity = 16384;
inline constexpr size_t kRegionCapacity = 512;
using HistoryRing = SpscRing<DeadBlock, kHistoryCapacity>;
using RegionRing = SpscRing<RegionEvent, kRegionCapacity>;

// The drain thread numbers threads 1, 2, 3, ... as it adopts them, so that a child of fork begins
// at 1 again; this is the serial of one that it has not adopted yet.
inline constexpr uint32_t kUnnumbered = ~uint32_t{0};

// Where a thread comes from.
struct ThreadCreation {
  uint32_t creator = 0;  // serial of the thread that made it; 0 or kUnnumbered: not known
  uint64_t tsc = 0;      // when that set out to make it; 0: not known
};

struct ThreadRecord {
  // Identity: set by the owner before the record is published.
  // 0: the record is free. Then kUnnumbered, then what the drain thread calls it.
  std::atomic<uint32_t> serial;
  Tid tid;
  bool is_main;
  uint64_t start_tsc;
  uint64_t fs_base;     // thread pointer, for segment-relative accesses; 0: unknown
  uint64_t initial_sp;  // any address in the thread's stack; 0: unknown
  ThreadCreation creation;

  // How far the drain thread is with this thread. A futex word: a starting thread waits for it, for
  // a bounded time.
  static constexpr uint32_t kNotObserved = 0;  // runs without events
  static constexpr uint32_t kObserved = 1;     // its events are open, or can't be
  static constexpr uint32_t kSpins = 2;        // waits for them
  static constexpr uint32_t kSleeps = 3;       // waits for them and is to be woken
  std::atomic<uint32_t> observed;
  uint64_t runs_since_tsc;  // since when kNotObserved

  HookClock clock;
  HistoryRing history;
  RegionRing regions;
  std::atomic<uint64_t> history_lost;      // records that found the ring full
  std::atomic<EventTime> history_lost_at;  // when that last happened
  std::atomic<uint64_t> regions_lost;
  UntrackedCounts untracked;
  std::atomic<uint64_t> allocations;  // of this thread, for the own-cost figures
  AllocationSampler sampler;
  CounterCache counters;
  void* stack_cache;  // capture::StackCache, opaque here
  ThreadRecord* next_free;
  ThreadRecord* next_arrival;
};

// A fresh record for the calling thread, registered and visible to the drain thread; nullptr when
// memory is refused or kMaxThreads are alive. Calling thread: the thread itself, also in a hook.
ThreadRecord* RegisterThread(Tid tid, bool is_main, uint64_t initial_sp,
                             const ThreadCreation& creation = {});

// The same for a thread that the kernel lists and that has called no hook (drain thread). When it
// calls one, it registers itself.
ThreadRecord* RegisterUnseenThread(Tid tid);

// The records that registered since the last call, in that order, linked by next_arrival (drain
// thread).
ThreadRecord* TakeArrivals();
bool HasArrivals();

// Gives a record back for another thread (drain thread; the owner is gone and its rings are empty).
void ReleaseThread(ThreadRecord* record);

// Calls visit(ThreadRecord*) for every registered thread (drain thread).
inline constexpr uint32_t kMaxThreads = 32768;
ThreadRecord* RecordAt(uint32_t index);
uint32_t RecordCount();
template <typename Visit>
void ForEachThread(Visit visit) {
  const uint32_t count = RecordCount();
  for (uint32_t i = 0; i < count; ++i) {
    ThreadRecord* record = RecordAt(i);
    if (record != nullptr && record->serial.load(std::memory_order_acquire) != 0) visit(record);
  }
}

// In the child of fork, whose process id is `pid`: forgets the forking thread's record `inherited`
// (may be nullptr), those of the parent's other threads, and what they lost. Threads that another
// library's fork handler has started in the child meanwhile stay (pitfalls P24).
void ForgetThreadsOfParent(int32_t pid, ThreadRecord* inherited);

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_THREAD_RECORD_H_
