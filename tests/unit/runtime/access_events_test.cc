#include "agent/runtime/access_events.h"

#include <errno.h>
#include <gtest/gtest.h>

namespace memagent::runtime {
namespace {

capture::EventLadder LadderOf(uint32_t type) {
  capture::EventAttempt attempt;
  attempt.attr = os::NewPerfAttr(type, PERF_COUNT_SW_DUMMY);
  attempt.attr.exclude_kernel = 1;
  capture::EventLadder ladder;
  ladder.push_back(attempt);
  return ladder;
}

TEST(AccessEvents, OneThatDoesNotOpenBesideAnotherIsToldWithItsError) {
  capture::EnginePlan plan;
  plan.access.push_back(LadderOf(PERF_TYPE_SOFTWARE));
  plan.access.push_back(LadderOf(0x7ffffff));  // no such PMU
  AccessEvents events;
  OpenOutcome outcome;
  events.Open(plan, {}, {}, outcome);
  if (outcome.access == nullptr) GTEST_SKIP() << "perf_event_open is refused here";
  EXPECT_EQ(outcome.rungs, (Rungs{0, 1}));
  ASSERT_EQ(outcome.missing.size(), 1u);
  EXPECT_EQ(outcome.missing[0].attempt, &plan.access[1][0]);
  EXPECT_EQ(outcome.missing[0].error, ENOENT);
  EXPECT_TRUE(events.all()[0].open());
  EXPECT_FALSE(events.all()[1].open());
}

TEST(AccessEvents, AllThatOpenLeaveNothingMissing) {
  capture::EnginePlan plan;
  plan.access.push_back(LadderOf(PERF_TYPE_SOFTWARE));
  plan.access.push_back(LadderOf(PERF_TYPE_SOFTWARE));
  AccessEvents events;
  OpenOutcome outcome;
  events.Open(plan, {}, {}, outcome);
  if (outcome.access == nullptr) GTEST_SKIP() << "perf_event_open is refused here";
  EXPECT_TRUE(outcome.missing.empty());
  EXPECT_EQ(outcome.access, &plan.access[0][0]);
}

}  // namespace
}  // namespace memagent::runtime
