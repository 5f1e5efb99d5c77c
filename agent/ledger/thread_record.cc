#include "agent/ledger/thread_record.h"

#include "agent/base/arena.h"

namespace memagent::ledger {
namespace {

constinit std::atomic<ThreadRecord*> records[kMaxThreads];
constinit std::atomic<uint32_t> record_count{0};
constinit std::atomic<uint32_t> last_serial{0};

// Free records, a Treiber stack: pushed by the drain thread alone, popped by starting threads. The
// tag in the upper 16 bits defeats ABA.
constinit std::atomic<uint64_t> free_list{0};
constexpr uint64_t kPointerMask = (uint64_t{1} << 48) - 1;

ThreadRecord* PopFree() {
  uint64_t head = free_list.load(std::memory_order_acquire);
  while (true) {
    auto* record = reinterpret_cast<ThreadRecord*>(head & kPointerMask);
    if (record == nullptr) return nullptr;
    const uint64_t next = reinterpret_cast<uint64_t>(record->next_free);
    const uint64_t tag = (head >> 48) + 1;
    if (free_list.compare_exchange_weak(head, next | tag << 48, std::memory_order_acq_rel)) {
      return record;
    }
  }
}

void PushFree(ThreadRecord* record) {
  uint64_t head = free_list.load(std::memory_order_relaxed);
  uint64_t fresh;
  do {
    record->next_free = reinterpret_cast<ThreadRecord*>(head & kPointerMask);
    fresh = reinterpret_cast<uint64_t>(record) | ((head >> 48) + 1) << 48;
  } while (!free_list.compare_exchange_weak(head, fresh, std::memory_order_acq_rel));
}

ThreadRecord* MakeRecord() {
  const uint32_t index = record_count.load(std::memory_order_relaxed);
  if (index >= kMaxThreads) return nullptr;
  auto* record = static_cast<ThreadRecord*>(base::MapPages(sizeof(ThreadRecord)));
  auto* history =
      static_cast<DeadBlock*>(base::MapPages(kHistoryCapacity * sizeof(DeadBlock)));
  auto* regions =
      static_cast<RegionEvent*>(base::MapPages(kRegionCapacity * sizeof(RegionEvent)));
  if (record == nullptr || history == nullptr || regions == nullptr) return nullptr;
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

}  // namespace

ThreadRecord* RegisterThread(Tid tid, bool is_main, uint64_t initial_sp) {
  ThreadRecord* record = PopFree();
  if (record == nullptr) record = MakeRecord();
  if (record == nullptr) return nullptr;
  record->tid = tid;
  record->is_main = is_main;
  record->initial_sp = initial_sp;
  record->fs_base = ThreadPointer();
  record->start_tsc = __builtin_ia32_rdtsc();
  record->observed.store(0, std::memory_order_relaxed);
  record->ended.store(false, std::memory_order_relaxed);
  record->serial.store(last_serial.fetch_add(1, std::memory_order_relaxed) + 1,
                       std::memory_order_release);
  return record;
}

void ReleaseThread(ThreadRecord* record) {
  record->serial.store(0, std::memory_order_release);
  PushFree(record);
}

ThreadRecord* RecordAt(uint32_t index) { return records[index].load(std::memory_order_acquire); }

uint32_t RecordCount() {
  const uint32_t count = record_count.load(std::memory_order_acquire);
  return count < kMaxThreads ? count : kMaxThreads;
}

void ForgetOtherThreads(ThreadRecord* mine) {
  ForEachThread([mine](ThreadRecord* record) {
    record->counters.FlushAll();
    if (record != mine) {
      record->history.Clear();
      record->regions.Clear();
      ReleaseThread(record);
    }
  });
}

}  // namespace memagent::ledger
