#include "agent/ledger/hook_clock.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace memagent::ledger {
namespace {

using Head = SampleWatch::Head;

void WaitForTheCounter() {
  const EventTime start = Now();
  while (Now() - start < 100) {
  }
}

class HookClockTest : public testing::Test {
 protected:
  void SetUp() override { StartSampleWatch(); }

  EventTime Time() { return HookTime(clock_); }
  EventTime TimeAfterAWhile() {
    WaitForTheCounter();
    return Time();
  }
  bool Stands() {
    const EventTime before = Time();
    return TimeAfterAWhile() == before;
  }

  HookClock clock_ = {};
};

TEST_F(HookClockTest, StandsWhileNoSampleIsTaken) {
  Head head{0};
  AddRing(&head);
  EXPECT_TRUE(Stands());
  RemoveRing(&head);
}

TEST_F(HookClockTest, MovesWithEveryWatchedRing) {
  Head heads[kWatchedRings] = {};
  for (Head& head : heads) {
    ASSERT_TRUE(CanWatchRing(true));
    ASSERT_EQ(CanWatchRing(false), &head != &heads[kWatchedRings - 1]);
    AddRing(&head);
  }
  EXPECT_FALSE(CanWatchRing(true));
  for (Head& head : heads) {
    const EventTime before = Time();
    head += 64;
    const EventTime after = TimeAfterAWhile();
    EXPECT_GE(after - before, 100u);
    EXPECT_TRUE(Stands());
  }
  for (Head& head : heads) RemoveRing(&head);
  EXPECT_TRUE(CanWatchRing(false));
}

TEST_F(HookClockTest, TimesOfDifferentSamplesDiffer) {
  Head head{0};
  AddRing(&head);
  EventTime last = Time();
  for (int i = 0; i < 1000; ++i) {
    head += 8;
    const EventTime now = Time();
    ASSERT_GT(static_cast<int32_t>(now - last), 0);
    last = now;
  }
  RemoveRing(&head);
}

// Times wrap after minutes; a thread may sleep longer than that.
TEST_F(HookClockTest, ThreadThatSleptForMinutesReadsTheCounter) {
  for (const uint32_t slept : {1u, 0x7fffffffu, 0x80000001u, 0xf0000000u, 0xfff00000u}) {
    clock_.time = Now() - slept;
    clock_.samples_seen = HookClock::kStale;
    const EventTime before = Now();
    EXPECT_LT(Time() - before, 1u << 20) << slept;
  }
}

TEST_F(HookClockTest, MovesWhenTheListOfRingsChanges) {
  Head first{1000};
  Head second{1000};
  const EventTime start = Time();
  AddRing(&first);
  const EventTime one = TimeAfterAWhile();
  AddRing(&second);
  const EventTime two = TimeAfterAWhile();
  RemoveRing(&first);
  const EventTime three = TimeAfterAWhile();
  second += 8;
  const EventTime four = TimeAfterAWhile();
  RemoveRing(&second);
  const EventTime five = TimeAfterAWhile();
  TurnHookClocks();
  const EventTime six = TimeAfterAWhile();
  for (auto [a, b] : {std::pair(start, one),
                      {one, two},
                      {two, three},
                      {three, four},
                      {four, five},
                      {five, six}}) {
    EXPECT_GE(b - a, 100u);
  }
}

TEST_F(HookClockTest, RunsWhileARingIsNotWatched) {
  AddRing(nullptr);
  EXPECT_FALSE(Stands());
  AddRing(nullptr);
  RemoveRing(nullptr);
  EXPECT_FALSE(Stands());
  RemoveRing(nullptr);
  EXPECT_TRUE(Stands());
}

// The kernel maps no ring into a child. Whoever forks: here the system call itself.
TEST_F(HookClockTest, ChildOfForkLooksAtNoRing) {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  ASSERT_EQ(madvise(page, 4096, MADV_DONTFORK), 0);
  const auto* head = static_cast<const Head*>(page);
  AddRing(head);
  const EventTime before = Time();
  const pid_t child = fork();
  if (child == 0) _exit(TimeAfterAWhile() - before >= 100 && Stands() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(Stands());
  RemoveRing(head);
  munmap(page, 4096);
}

// What the comment at the top of hook_clock.h promises: an event that the program orders after a
// sample has a later time than one that it orders before.
TEST_F(HookClockTest, EventsOnBothSidesOfASampleOfAnotherThreadAreOrdered) {
  Head head{0};
  AddRing(&head);
  std::atomic<int> turn{0};
  std::thread sampled([&] {
    for (int i = 0; i < 2000; ++i) {
      while (turn.load(std::memory_order_acquire) != 2 * i + 1) std::this_thread::yield();
      head.store(head.load() + 8, std::memory_order_release);
      turn.store(2 * i + 2, std::memory_order_release);
    }
  });
  for (int i = 0; i < 2000; ++i) {
    const EventTime before = Time();
    turn.store(2 * i + 1, std::memory_order_release);
    while (turn.load(std::memory_order_acquire) != 2 * i + 2) std::this_thread::yield();
    ASSERT_GT(static_cast<int32_t>(Time() - before), 0);
  }
  sampled.join();
  RemoveRing(&head);
}

}  // namespace
}  // namespace memagent::ledger
