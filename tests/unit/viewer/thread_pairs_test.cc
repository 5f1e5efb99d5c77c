#include "viewer/thread_pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace memagent::viewer {
namespace {

ThreadView Thread(uint32_t id, std::string name, std::vector<uint64_t> by_node) {
  ThreadView thread;
  thread.id = id;
  thread.name = std::move(name);
  thread.samples_by_node = std::move(by_node);
  return thread;
}

View RunWith(std::vector<ThreadView> threads) {
  View view;
  view.threads = std::move(threads);
  return view;
}

TEST(ThreadPairs, PinnedThreadsMoveNothing) {
  const View run = RunWith({Thread(1, "w", {100, 0}), Thread(2, "w", {0, 100})});
  const ThreadPairs pairs(run, run);
  EXPECT_FALSE(pairs.AnyMoved());
  // Half of the threads were remote, none is: their doing, not chance.
  EXPECT_EQ(
      pairs.PlacementDeviation({{1, {100, 0}}, {2, {100, 100}}}, {{1, {100, 0}}, {2, {100, 0}}}),
      0);
}

// Which of two threads came to run first, and has the lower id, is chance.
TEST(ThreadPairs, ThreadsOfANamePairInTheOrderOfTheirNumbers) {
  View before = RunWith({Thread(1, "w", {100, 0}), Thread(2, "w", {0, 100})});
  View after = RunWith({Thread(1, "w", {0, 100}), Thread(2, "w", {100, 0})});
  before.threads[0].tid = 70;
  before.threads[1].tid = 71;
  after.threads[0].tid = 101;
  after.threads[1].tid = 100;
  EXPECT_FALSE(ThreadPairs(before, after).AnyMoved());
}

// Four threads; two change places, one becomes remote and one local: no change in all, but each
// could as well have gone the other way.
TEST(ThreadPairs, ThreadsThatMovedAreChance) {
  const View before = RunWith({Thread(1, "w", {100, 0}), Thread(2, "w", {0, 100}),
                               Thread(3, "w", {100, 0}), Thread(4, "w", {0, 100})});
  const View after = RunWith({Thread(1, "w", {0, 100}), Thread(2, "w", {100, 0}),
                              Thread(3, "w", {100, 0}), Thread(4, "w", {0, 100})});
  const ThreadPairs pairs(before, after);
  EXPECT_TRUE(pairs.AnyMoved());
  const double deviation =
      pairs.PlacementDeviation({{1, {100, 0}}, {2, {100, 100}}, {3, {100, 0}}, {4, {100, 100}}},
                               {{1, {100, 100}}, {2, {100, 0}}, {3, {100, 0}}, {4, {100, 100}}});
  EXPECT_NEAR(deviation, std::sqrt(2.0) / 4, 1e-9);
}

TEST(ThreadPairs, OneThreadThatMovedExplainsItsWholeChange) {
  const ThreadPairs pairs(RunWith({Thread(1, "w", {100, 0})}), RunWith({Thread(1, "w", {0, 100})}));
  EXPECT_NEAR(pairs.PlacementDeviation({{1, {100, 0}}}, {{1, {100, 90}}}), 0.9, 1e-9);
}

TEST(ThreadPairs, MovingExplainsNoMoreThanItsPart) {
  const ThreadPairs pairs(RunWith({Thread(1, "w", {100, 0})}), RunWith({Thread(1, "w", {80, 20})}));
  EXPECT_NEAR(pairs.PlacementDeviation({{1, {100, 0}}}, {{1, {100, 90}}}), 0.2, 1e-9);
}

// The main thread's name is the program's.
TEST(ThreadPairs, PairByNameInTheirOrder) {
  ThreadView main_before = Thread(1, "old", {50, 0});
  ThreadView main_after = Thread(1, "new", {0, 50});
  main_before.main = main_after.main = true;
  const View before = RunWith({main_before, Thread(2, "a", {50, 0}), Thread(3, "b", {0, 50})});
  const View after = RunWith({main_after, Thread(2, "b", {0, 50}), Thread(3, "a", {50, 0})});
  const ThreadPairs pairs(before, after);
  EXPECT_TRUE(pairs.AnyMoved());  // main
  EXPECT_EQ(
      pairs.PlacementDeviation({{2, {100, 0}}, {3, {100, 100}}}, {{2, {100, 0}}, {3, {100, 100}}}),
      0);
}

}  // namespace
}  // namespace memagent::viewer
