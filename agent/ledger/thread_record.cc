#include "agent/ledger/thread_record.h"

#include <errno.h>

#include <utility>

#include "agent/base/arena.h"
#include "agent/base/free_list.h"
#include "agent/base/syscall.h"
#include "agent/os/tsc.h"

namespace memagent::ledger {
namespace {

constinit std::atomic<ThreadRecord*> records[kMaxThreads];
constinit std::atomic<uint32_t> record_count{0};

constinit base::FreeList<ThreadRecord> free_records;

template <typename T>
T* Map(size_t count) {
  return static_cast<T*>(base::MapPages(count * sizeof(T), base::MemoryUse::kThreads));
}

// Latest first.
constinit std::atomic<ThreadRecord*> arrivals{nullptr};

void Announce(ThreadRecord* record) {
  ThreadRecord* latest = arrivals.load(std::memory_order_relaxed);
  do {
    record->next_arrival = latest;
  } while (!arrivals.compare_exchange_weak(latest, record));
}

void UnmapIfMapped(void* start, size_t size) {
  if (start != nullptr) base::UnmapPages(start, size, base::MemoryUse::kThreads);
}

ThreadRecord* MakeRecord() {
  const uint32_t index = record_count.load(std::memory_order_relaxed);
  if (index >= kMaxThreads) return nullptr;
  auto* record = Map<ThreadRecord>(1);
  auto* history = Map<DeadBlock>(kHistoryCapacity);
  auto* regions = Map<RegionEvent>(kRegionCapacity);
  if (record == nullptr || history == nullptr || regions == nullptr) {
    // The thread asks again at its next event: nothing may be left behind each time.
    UnmapIfMapped(record, sizeof(ThreadRecord));
    UnmapIfMapped(history, kHistoryCapacity * sizeof(DeadBlock));
    UnmapIfMapped(regions, kRegionCapacity * sizeof(RegionEvent));
    return nullptr;
  }
  record->history.Attach(history);
  record->regions.Attach(regions);
  const uint32_t mine = record_count.fetch_add(1, std::memory_order_acq_rel);
  if (mine >= kMaxThreads) return nullptr;
  records[mine].store(record, std::memory_order_release);
  return record;
}

uint64_t ThreadPointer() {
  uint64_t pointer;
#if defined(__x86_64__)
  asm("mov %%fs:0, %0" : "=r"(pointer));
#else
  asm("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
  return pointer;
}

ThreadRecord* Register(Tid tid, bool is_main, uint64_t initial_sp, uint64_t fs_base,
                       const ThreadCreation& creation) {
  ThreadRecord* record = free_records.Pop();
  if (record == nullptr) record = MakeRecord();
  if (record == nullptr) return nullptr;
  record->tid = tid;
  record->is_main = is_main;
  record->initial_sp = initial_sp;
  record->fs_base = fs_base;
  record->start_tsc = os::ReadTsc();
  record->runs_since_tsc = record->start_tsc;
  record->creation = creation;
  record->observed.store(ThreadRecord::kNotObserved, std::memory_order_relaxed);
  record->sampler.Seed(record->start_tsc ^ static_cast<uint64_t>(tid) << 40);
  record->serial.store(kUnnumbered, std::memory_order_release);
  return record;
}

}  // namespace

ThreadRecord* RegisterThread(Tid tid, bool is_main, uint64_t initial_sp,
                             const ThreadCreation& creation) {
  ThreadRecord* record = Register(tid, is_main, initial_sp, ThreadPointer(), creation);
  if (record != nullptr) Announce(record);
  return record;
}

ThreadRecord* TakeArrivals() {
  ThreadRecord* latest = arrivals.exchange(nullptr);
  ThreadRecord* first = nullptr;
  while (latest != nullptr) {
    ThreadRecord* earlier = latest->next_arrival;
    latest->next_arrival = first;
    first = std::exchange(latest, earlier);
  }
  return first;
}

bool HasArrivals() { return arrivals.load() != nullptr; }

ThreadRecord* RegisterUnseenThread(Tid tid) { return Register(tid, false, 0, 0, {}); }

void ReleaseThread(ThreadRecord* record) {
  record->serial.store(0, std::memory_order_release);
  free_records.Push(record);
}

ThreadRecord* RecordAt(uint32_t index) { return records[index].load(std::memory_order_acquire); }

uint32_t RecordCount() {
  const uint32_t count = record_count.load(std::memory_order_acquire);
  return count < kMaxThreads ? count : kMaxThreads;
}

void ForgetThreadsOfParent(int32_t pid, ThreadRecord* inherited) {
  arrivals.store(nullptr);  // who stays is found among all records
  ForEachThread([=](ThreadRecord* record) {
    record->counters.FlushAll();
    if (record != inherited && base::Syscall(SYS_tgkill, pid, record->tid, 0) != -ESRCH) return;
    for (std::atomic<uint64_t>& lost : record->untracked.count) lost = 0;
    record->history.Clear();
    record->regions.Clear();
    ReleaseThread(record);
  });
}

}  // namespace memagent::ledger
