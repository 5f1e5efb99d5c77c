#include "agent/ledger/thread_record.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "agent/ledger/site_table.h"
#include "agent/ledger/thread_state.h"

namespace memagent::ledger {
namespace {

bool IsRegistered(const ThreadRecord* wanted) {
  bool found = false;
  ForEachThread([&](ThreadRecord* record) { found |= record == wanted; });
  return found;
}

TEST(ThreadRecord, RegisteredThreadIsVisibleUntilReleased) {
  ThreadRecord* record = RegisterThread(77, true, 0x1234);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->tid, 77);
  EXPECT_TRUE(record->is_main);
  EXPECT_EQ(record->initial_sp, 0x1234u);
  EXPECT_EQ(record->fs_base, reinterpret_cast<uint64_t>(__builtin_thread_pointer()));
  EXPECT_TRUE(record->history.attached());
  EXPECT_TRUE(record->regions.attached());
  EXPECT_TRUE(IsRegistered(record));
  ReleaseThread(record);
  EXPECT_FALSE(IsRegistered(record));
}

TEST(ThreadRecord, ReusedRecordHasNoNumberUntilItIsAdopted) {
  ThreadRecord* first = RegisterThread(1, false, 0);
  first->serial = 5;
  first->observed = 1;
  ReleaseThread(first);
  ThreadRecord* second = RegisterThread(2, false, 0);
  EXPECT_EQ(second, first);
  EXPECT_EQ(second->serial.load(), kUnnumbered);
  EXPECT_EQ(second->observed.load(), 0u);
  EXPECT_EQ(second->tid, 2);
  ReleaseThread(second);
}

TEST(ThreadRecord, ThreadsThatRegisterAtOnceGetRecordsOfTheirOwn) {
  constexpr int kThreads = 8;
  std::vector<ThreadRecord*> records(kThreads);
  std::vector<std::thread> threads;
  for (ThreadRecord*& mine : records) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < 50; ++i) {
        mine = RegisterThread(i, false, 0);
        if (i < 49) ReleaseThread(mine);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<ThreadRecord*> different(records.begin(), records.end());
  EXPECT_EQ(different.size(), size_t{kThreads});
  for (ThreadRecord* record : records) ReleaseThread(record);
}

TEST(ThreadRecord, ForkedChildKeepsEveryCountAndOnlyItsOwnThreads) {
  ThreadRecord* inherited = RegisterThread(static_cast<Tid>(gettid()), true, 0);
  ThreadRecord* ours = RegisterThread(static_cast<Tid>(gettid()), false, 0);
  ThreadRecord* parents = RegisterThread(1, false, 0);  // a thread of another process
  const SiteId site = NewSite(RegionKind::kGlobal);
  parents->counters.CountAllocation(site, 10);
  ours->counters.CountAllocation(site, 20);
  parents->history.Push({});
  parents->untracked.Add(UntrackedReason::kReentrant);
  ForgetThreadsOfParent(getpid(), inherited);
  EXPECT_TRUE(IsRegistered(ours));
  EXPECT_FALSE(IsRegistered(inherited));
  EXPECT_FALSE(IsRegistered(parents));
  EXPECT_EQ(CountersOf(site)->bytes_allocated.load(), 30u);
  EXPECT_EQ(parents->untracked.Read(UntrackedReason::kReentrant), 0u);
  int left = 0;
  parents->history.PopAll([&](const DeadBlock&) { ++left; });
  EXPECT_EQ(left, 0);
  ReleaseThread(ours);
}

TEST(HookGuard, OnlyTheOuterOneEnters) {
  HookGuard outer;
  EXPECT_TRUE(outer.entered());
  {
    HookGuard inner;
    EXPECT_FALSE(inner.entered());
  }
  EXPECT_EQ(thread_state.depth, 1u);
}

TEST(ThreadState, IsFortyBytes) { EXPECT_EQ(sizeof(ThreadState), 40u); }

}  // namespace
}  // namespace memagent::ledger
