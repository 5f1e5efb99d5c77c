// Recorder, ledger and the drain thread's readers at work together: several host threads hammer
// allocations while one reader gathers, looks up, counts and buries.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "agent/attribute/block_finder.h"
#include "agent/attribute/region_index.h"
#include "agent/base/private_heap.h"
#include "agent/capture/recorder.h"
#include "agent/capture/stack_capture.h"
#include "agent/ledger/site_table.h"
#include "agent/ledger/thread_state.h"
#include "agent/os/tsc.h"
#include "agent/runtime/site_counts.h"
#include "tests/harness/host_threads.h"

namespace memagent::harness {
namespace {

// Long for a reader, and shorter than the rings need to fill.
constexpr ledger::EventTime kLag = 20'000;

// A drain thread's tick without perf events and without a file.
class Reader {
 public:
  explicit Reader(Graveyard& graveyard) : graveyard_(graveyard) {
    ledger::SetHistoryWanted(true);
    thread_ = std::thread([this] {
      while (!stop_.load()) Tick();
    });
  }
  void Stop() {
    stop_.store(true);
    thread_.join();
    Tick();  // what is left
    ledger::SetHistoryWanted(false);
  }
  runtime::SiteCounts Counts() const { return runtime::SiteCounts(regions_); }
  uint64_t ticks() const { return ticks_; }

 private:
  void Tick() {
    const ledger::EventTime now = ledger::Now();
    ledger::ForEachThread([this](ledger::ThreadRecord* record) {
      record->observed.store(1, std::memory_order_release);
      record->regions.PopAll([this](const ledger::RegionEvent& event) { regions_.Apply(event); });
    });
    blocks_.GatherHistory();
    LookAround(now);
    Counts();
    ReadSites();
    capture::ReadStackStatistics();
    Bury();
    ledger::SetSettled(now - kLag);
    blocks_.ForgetBefore(now - kLag);
    blocks_.TakeLargeFrees([](uint64_t, uint64_t) {});
    ++ticks_;
  }

  // Addresses near a block of ours: most answers don't matter, but every one is well-formed.
  void LookAround(ledger::EventTime now) {
    Truth unused;
    void* near = Allocate(ticks_ % 3 + 3 * 64, unused);
    const auto address = reinterpret_cast<uint64_t>(near);
    for (uint64_t back = 0; back < 4096; back += 64) {
      const auto answer = blocks_.Find(address - back, now - kLag / 2, 16);
      if (answer.verdict != attribute::HeapVerdict::kBlock) continue;
      EXPECT_LE(answer.block.start, address - back);
      EXPECT_GT(answer.block.start + answer.block.size, address - back);
    }
    Free(near);
    own_allocations_.fetch_add(1);
    own_bytes_.fetch_add(unused.bytes.load());
  }

  // As a checkpoint walks the table.
  void ReadSites() {
    for (uint32_t id = 1; id <= ledger::SiteCount(); ++id) {
      const ledger::SiteCounters* site = ledger::CountersOf(SiteId{id});
      if (site == nullptr || site->kind == RegionKind::kUnknown) continue;
      capture::StackNode node;
      if (site->kind == RegionKind::kHeap) capture::ReadStackNode(site->stack, node);
    }
  }

  void Bury() {
    for (ledger::ThreadRecord* record : graveyard_.TakeAll()) {
      record->regions.PopAll([this](const ledger::RegionEvent& event) { regions_.Apply(event); });
      blocks_.GatherHistory();
      record->counters.FlushAll();
      ledger::ReleaseThread(record);
    }
  }

 public:
  std::atomic<uint64_t> own_allocations_{0};
  std::atomic<uint64_t> own_bytes_{0};

 private:
  Graveyard& graveyard_;
  attribute::RegionIndex regions_;
  attribute::BlockFinder blocks_;
  std::atomic<bool> stop_{false};
  uint64_t ticks_ = 0;
  std::thread thread_;
};

struct HeapTotals {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t bytes_allocated = 0;
  uint64_t bytes_freed = 0;
};

HeapTotals HeapTotalsOf(const runtime::SiteCounts& counts) {
  HeapTotals totals;
  for (uint32_t id = 1; id <= ledger::SiteCount(); ++id) {
    if (ledger::CountersOf(SiteId{id})->kind != RegionKind::kHeap) continue;
    const attribute::RegionCounts site = counts.Of(SiteId{id});
    totals.allocations += site.allocations;
    totals.frees += site.frees;
    totals.bytes_allocated += site.bytes_allocated;
    totals.bytes_freed += site.bytes_freed;
  }
  return totals;
}

// The ledger is one for the process: each test looks at what it added.
class StagesTogether : public ::testing::Test {
 protected:
  StagesTogether() : before_(HeapTotalsOf(runtime::SiteCounts(attribute::RegionIndex()))) {}

  void ExpectExact(const Reader& reader) {
    const HeapTotals after = HeapTotalsOf(reader.Counts());
    const uint64_t allocations = truth_.allocations + reader.own_allocations_;
    EXPECT_EQ(after.allocations - before_.allocations, allocations);
    EXPECT_EQ(after.frees - before_.frees, allocations);
    EXPECT_EQ(after.bytes_allocated - before_.bytes_allocated, truth_.bytes + reader.own_bytes_);
    EXPECT_EQ(after.bytes_freed - before_.bytes_freed, truth_.bytes + reader.own_bytes_);
    EXPECT_GT(reader.ticks(), 0u);
  }

  Truth truth_;
  Graveyard graveyard_;
  HeapTotals before_;
};

TEST_F(StagesTogether, BlocksFreedInOtherThreadsAreCountedExactly) {
  Reader reader(graveyard_);
  HostThreads hosts(4, 10'000, truth_, graveyard_);
  hosts.Join();
  reader.Stop();
  ExpectExact(reader);
}

TEST_F(StagesTogether, ThreadsThatComeAndGoAreCountedExactly) {
  Reader reader(graveyard_);
  for (int i = 0; i < 30; ++i) HostThreads(6, 100, truth_, graveyard_).Join();
  reader.Stop();
  ExpectExact(reader);
}

// What the child of a fork does: it forgets the other threads and the reader's heap, and counts on.
int CountInChild(Truth& truth) {
  base::HeapReset();
  ledger::ForgetThreadsOfParent(getpid(), ledger::thread_state.record);
  ledger::thread_state.record = nullptr;
  const HeapTotals before = HeapTotalsOf(runtime::SiteCounts(attribute::RegionIndex()));
  for (uint64_t i = 0; i < 100; ++i) Free(Allocate(i, truth));
  const HeapTotals after = HeapTotalsOf(runtime::SiteCounts(attribute::RegionIndex()));
  return after.allocations - before.allocations == 100 && after.frees - before.frees == 100 ? 0 : 1;
}

TEST_F(StagesTogether, ChildForkedWhileThreadsHammerStartsOver) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a child may find the lock of AddressSanitizer's own heap taken";
#endif
  Reader reader(graveyard_);
  HostThreads hosts(3, 10'000, truth_, graveyard_);
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      Truth own;
      _exit(CountInChild(own));
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  hosts.Join();
  reader.Stop();
  ExpectExact(reader);
}

TEST_F(StagesTogether, FailedReallocLeavesTheBlockAsItWas) {
  Reader reader(graveyard_);
  void* block = Allocate(1, truth_);
  for (int i = 0; i < 1000; ++i) capture::RecordReallocFailed(capture::RecordReallocStart(block));
  Free(block);
  reader.Stop();
  ExpectExact(reader);
}

}  // namespace
}  // namespace memagent::harness
