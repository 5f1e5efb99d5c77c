#include "agent/runtime/engine_watch.h"

#include <gtest/gtest.h>

#include <array>

namespace memagent::runtime {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

capture::EnginePlan Plan(EngineKind engine, uint64_t period = 100'000) {
  capture::EnginePlan plan;
  plan.engine = engine;
  plan.period = period;
  return plan;
}

EventCounts Counts(uint64_t enabled, uint64_t running, uint64_t occurrences, uint64_t samples) {
  EventCounts counts;
  counts.enabled_nanos = enabled;
  counts.running_nanos = running;
  counts.occurrences = occurrences;
  counts.samples = samples;
  return counts;
}

TEST(EngineWatch, EventThatNeverRanIsToldAfterATenthOfASecond) {
  const auto ibs = Plan(EngineKind::kIbs);
  EXPECT_EQ(StateOf(Counts(kSecond / 10 - 1, 0, 0, 0), ibs), EventState::kTooEarly);
  EXPECT_EQ(StateOf(Counts(kSecond / 10, 0, 0, 0), ibs), EventState::kNeverRan);
  EXPECT_EQ(StateOf(Counts(kSecond, 1000, 100, 0), ibs), EventState::kWorks);
}

TEST(EngineWatch, CountingWithoutSamplesIsDeaf) {
  const auto pebs = Plan(EngineKind::kPebs);
  EXPECT_EQ(StateOf(Counts(kSecond, kSecond, 1'599'999, 0), pebs), EventState::kWorks);
  EXPECT_EQ(StateOf(Counts(kSecond, kSecond, 1'600'000, 0), pebs), EventState::kNeverSampled);
  EXPECT_EQ(StateOf(Counts(kSecond, kSecond, 1'600'000, 1), pebs), EventState::kWorks);
  EventCounts all_lost = Counts(kSecond, kSecond, 1'600'000, 0);
  all_lost.lost = 16;
  EXPECT_EQ(StateOf(all_lost, pebs), EventState::kWorks);
}

TEST(EngineWatch, NothingToCountIsNoSilenceButForIbsWhichCountsEveryOp) {
  const EventCounts nothing = Counts(2 * kSecond, 2 * kSecond, 0, 0);
  EXPECT_EQ(StateOf(nothing, Plan(EngineKind::kPebs)), EventState::kWorks);
  EXPECT_EQ(StateOf(nothing, Plan(EngineKind::kSpe)), EventState::kWorks);
  EXPECT_EQ(StateOf(nothing, Plan(EngineKind::kIbs)), EventState::kNeverSampled);
  EXPECT_EQ(StateOf(Counts(kSecond, kSecond / 2, 0, 0), Plan(EngineKind::kIbs)),
            EventState::kWorks);
}

TEST(EngineWatch, LargestPeriodDoesNotOverflow) {
  EXPECT_EQ(StateOf(Counts(kSecond, kSecond, UINT64_MAX, 0), Plan(EngineKind::kPebs, UINT64_MAX)),
            EventState::kWorks);
}

TEST(EngineWatch, EngineWorksWhenOneEventDoes) {
  const std::array counts = {Counts(kSecond, 0, 0, 0), Counts(kSecond, kSecond, 1000, 3)};
  EXPECT_EQ(StateOfEngine(counts, Plan(EngineKind::kPebs)), EventState::kWorks);
}

TEST(EngineWatch, EngineIsSilentWhenNoEventWorks) {
  const std::array counts = {Counts(kSecond, 0, 0, 0), Counts(kSecond, 0, 0, 0)};
  EXPECT_EQ(StateOfEngine(counts, Plan(EngineKind::kPebs)), EventState::kNeverRan);
}

TEST(EngineWatch, EventThatIsNotOpenSaysNothing) {
  const std::array counts = {Counts(0, 0, 0, 0), Counts(kSecond, 0, 0, 0)};
  EXPECT_EQ(StateOfEngine(counts, Plan(EngineKind::kPebs)), EventState::kNeverRan);
  EXPECT_EQ(StateOfEngine({}, Plan(EngineKind::kPebs)), EventState::kTooEarly);
}

TEST(EngineWatch, EventThatHasNotHadItsTimeIsWaitedFor) {
  const std::array counts = {Counts(kSecond, 0, 0, 0), Counts(1000, 0, 0, 0)};
  EXPECT_EQ(StateOfEngine(counts, Plan(EngineKind::kPebs)), EventState::kTooEarly);
}

}  // namespace
}  // namespace memagent::runtime
