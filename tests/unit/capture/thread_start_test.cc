#include "agent/capture/thread_start.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "agent/ledger/thread_record.h"
#include "agent/ledger/thread_state.h"
#include "agent/os/clock.h"

namespace memagent::capture {
namespace {

using ledger::ThreadRecord;

// Starts a thread as the hooks do; what became of its record.
ThreadRecord* StartThread(uint32_t creator, uint64_t created_tsc = 0) {
  ThreadRecord* record = nullptr;
  ExpectThread();
  std::thread([&] {
    RecordThreadStart(creator, created_tsc);
    record = ledger::thread_state.record;
  }).join();
  return record;
}

class ThreadStart : public testing::Test {
 protected:
  void SetUp() override {
    ForgetExpectedThreads();
    OpenWaitBudget();
    ledger::TakeArrivals();
  }
  void TearDown() override { SetStartsAwaited(false); }
};

TEST_F(ThreadStart, ArrivalsComeInTheirOrderWithTheirCreator) {
  std::vector<ThreadRecord*> started;
  for (uint32_t i = 0; i < 5; ++i) started.push_back(StartThread(40 + i));
  EXPECT_TRUE(ledger::HasArrivals());
  ThreadRecord* arrival = ledger::TakeArrivals();
  for (uint32_t i = 0; i < 5; ++i, arrival = arrival->next_arrival) {
    ASSERT_EQ(arrival, started[i]);
    EXPECT_EQ(arrival->creation.creator, 40 + i);
  }
  EXPECT_EQ(arrival, nullptr);
  EXPECT_FALSE(ledger::HasArrivals());
}

TEST_F(ThreadStart, WhoMadeAThreadIsKnownAsSoonAsItIsAnnounced) {
  constexpr int kThreads = 1000;
  std::atomic<bool> stop{false};
  int known = 0;
  int seen = 0;
  std::thread drain([&] {
    while (!stop || ledger::HasArrivals()) {
      const ThreadRecord* record = ledger::TakeArrivals();
      for (; record != nullptr; record = record->next_arrival) {
        known += record->creation.creator == 7 && record->creation.tsc == 1234;
        ++seen;
      }
    }
  });
  for (int i = 0; i < kThreads; ++i) StartThread(7, 1234);
  stop = true;
  drain.join();
  EXPECT_EQ(seen, kThreads);
  EXPECT_EQ(known, kThreads);
}

TEST_F(ThreadStart, NobodyIsExpectedOnceTheThreadIsThereOrRefused) {
  AllowSpinning(true);
  EXPECT_FALSE(ThreadExpected());
  ExpectThread();
  EXPECT_TRUE(ThreadExpected());
  ForgetExpectedThread();
  EXPECT_FALSE(ThreadExpected());
  StartThread(1);
  EXPECT_FALSE(ThreadExpected());
}

TEST_F(ThreadStart, AThreadWithoutEventsToWaitForGoesOn) {
  EXPECT_EQ(StartThread(1)->observed.load(), ThreadRecord::kNotObserved);
  EXPECT_EQ(StartsNotObserved(), 0u);
}

TEST_F(ThreadStart, AThreadRunsOnceItIsObserved) {
  SetStartsAwaited(true);
  std::atomic<bool> stop{false};
  std::thread drain([&] {
    while (!stop) {
      ThreadRecord* record = ledger::TakeArrivals();
      if (record != nullptr) record->observed = ThreadRecord::kObserved;  // it looks, or times out
    }
  });
  EXPECT_EQ(StartThread(1)->observed.load(), ThreadRecord::kObserved);
  stop = true;
  drain.join();
  EXPECT_EQ(StartsNotObserved(), 0u);
}

TEST_F(ThreadStart, AThreadThatNobodyObservesGoesOnAndIsCounted) {
  SetStartsAwaited(true);
  EXPECT_EQ(StartThread(1)->observed.load(), ThreadRecord::kNotObserved);
  EXPECT_EQ(StartsNotObserved(), 1u);
}

TEST_F(ThreadStart, SlowWaitsStopWhenTheirBudgetIsUsedUp) {
  SetStartsAwaited(true);
  constexpr int kThreads = 400;
  const Nanos start = os::MonotonicNanos();
  for (int i = 0; i < kThreads; ++i) StartThread(1);
  EXPECT_EQ(StartsNotObserved(), uint32_t{kThreads});
  EXPECT_LT(os::MonotonicNanos() - start, kThreads * kObserveMillis * Nanos{1'000'000} / 2);
}

}  // namespace
}  // namespace memagent::capture
