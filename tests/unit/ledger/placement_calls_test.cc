#include "agent/ledger/placement_calls.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace memagent::ledger {
namespace {

PlacementCall Call(uint64_t address) {
  PlacementCall call;
  call.address = address;
  call.size_bytes = ~address;
  return call;
}

class PlacementCalls : public testing::Test {
 protected:
  void SetUp() override { ForgetPlacementCalls(); }
};

TEST_F(PlacementCalls, ComeOutInOrderOverManyLaps) {
  PlacementCall call;
  EXPECT_FALSE(PopPlacementCall(call));
  for (uint64_t i = 1; i < 5 * kPlacementSlots; ++i) {
    ASSERT_TRUE(PushPlacementCall(Call(i)));
    ASSERT_TRUE(PopPlacementCall(call));
    EXPECT_EQ(call.address, i);
  }
  EXPECT_FALSE(PopPlacementCall(call));
  EXPECT_EQ(LostPlacementCalls().all, 0u);
}

TEST_F(PlacementCalls, AFullQueueRefusesAndCounts) {
  for (uint64_t i = 0; i < kPlacementSlots; ++i) ASSERT_TRUE(PushPlacementCall(Call(i)));
  EXPECT_FALSE(PushPlacementCall(Call(1)));
  EXPECT_EQ(LostPlacementCalls().all, 1u);
  PlacementCall call;
  EXPECT_TRUE(PopPlacementCall(call));
  EXPECT_TRUE(PushPlacementCall(Call(7)));
  EXPECT_FALSE(PushPlacementCall(Call(8)));
}

TEST_F(PlacementCalls, OfLostOnesThoseThatChangePoliciesAreKnown) {
  PlacementCall call = Call(1);
  call.kind = PlacementKind::kSchedSetaffinity;
  for (uint64_t i = 0; i < kPlacementSlots; ++i) ASSERT_TRUE(PushPlacementCall(call));
  EXPECT_EQ(WaitingPlacementCalls(), kPlacementSlots);
  const auto expect_lost = [](uint64_t all, uint64_t of_threads, uint64_t of_mappings) {
    const LostCalls lost = LostPlacementCalls();
    EXPECT_EQ(lost.all, all);
    EXPECT_EQ(lost.of_threads, of_threads);
    EXPECT_EQ(lost.of_mappings, of_mappings);
  };
  EXPECT_FALSE(PushPlacementCall(call));
  expect_lost(1, 0, 0);
  call.kind = PlacementKind::kSetMempolicy;
  EXPECT_FALSE(PushPlacementCall(call));
  expect_lost(2, 1, 0);
  call.kind = PlacementKind::kMbind;
  EXPECT_FALSE(PushPlacementCall(call));
  expect_lost(3, 1, 1);
  LosePlacementCall(PlacementKind::kSetMempolicy, 22);  // refused: it changed nothing
  LosePlacementCall(PlacementKind::kMbind, 14);
  expect_lost(5, 1, 1);
  ForgetPlacementCalls();
  expect_lost(0, 0, 0);
  EXPECT_EQ(WaitingPlacementCalls(), 0u);
}

TEST_F(PlacementCalls, WhatIsForgottenDoesNotComeOut) {
  for (uint64_t i = 0; i < kPlacementSlots + 9; ++i) PushPlacementCall(Call(i));
  ForgetPlacementCalls();
  PlacementCall call;
  EXPECT_FALSE(PopPlacementCall(call));
  EXPECT_TRUE(PushPlacementCall(Call(5)));
  EXPECT_TRUE(PopPlacementCall(call));
  EXPECT_EQ(call.address, 5u);
}

TEST_F(PlacementCalls, OfManyThreadsNoneIsTornOrTwice) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kCalls = 20000;
  std::atomic<uint64_t> refused{0};
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 1; i <= kCalls; ++i) {
        if (!PushPlacementCall(Call(t << 32 | i))) refused.fetch_add(1);
      }
      running.fetch_sub(1);
    });
  }
  std::vector<uint64_t> last(kThreads, 0);
  uint64_t taken = 0;
  PlacementCall call;
  const auto take = [&] {
    while (PopPlacementCall(call)) {
      ++taken;
      EXPECT_EQ(call.size_bytes, ~call.address);
      uint64_t& before = last[call.address >> 32];
      EXPECT_GT(call.address & 0xffffffff, before);
      before = call.address & 0xffffffff;
    }
  };
  while (running.load() > 0) take();
  for (std::thread& thread : threads) thread.join();
  take();
  EXPECT_EQ(taken + refused.load(), kThreads * kCalls);
  EXPECT_EQ(LostPlacementCalls().all, refused.load());
}

}  // namespace
}  // namespace memagent::ledger
