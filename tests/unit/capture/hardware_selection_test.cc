// What is asked of each PMU: the points that golden ladders can't explain.
#include <gtest/gtest.h>

#include <string>

#include "agent/capture/event_selection.h"

namespace memagent::capture {
namespace {

void AddField(os::Pmu& pmu, const char* name, const char* bits) {
  pmu.fields.push_back({name, *os::ParsePmuBits(bits)});
}

EngineFacts Zen4() {
  EngineFacts facts;
  facts.cpu.vendor = "AuthenticAMD";
  facts.kernel.version = {6, 12};
  facts.pmus.sysfs = true;
  os::Pmu& ibs = facts.pmus.pmus.emplace_back();
  ibs.name = "ibs_op";
  ibs.type = 11;
  AddField(ibs, "cnt_ctl", "config:19");
  AddField(ibs, "l3missonly", "config:16");
  return facts;
}

EngineFacts SapphireRapids() {
  EngineFacts facts;
  facts.cpu.vendor = "GenuineIntel";
  facts.kernel.version = {6, 12};
  facts.pmus.sysfs = true;
  os::Pmu& cpu = facts.pmus.pmus.emplace_back();
  cpu.name = "cpu";
  cpu.type = PERF_TYPE_RAW;
  AddField(cpu, "event", "config:0-7");
  AddField(cpu, "umask", "config:8-15");
  AddField(cpu, "ldlat", "config1:0-15");
  cpu.events = {{"mem-loads", *os::ParsePmuTerms("event=0xcd,umask=0x1,ldlat=3")},
                {"mem-stores", *os::ParsePmuTerms("event=0xcd,umask=0x2")},
                {"mem-loads-aux", *os::ParsePmuTerms("event=0x03,umask=0x82")}};
  cpu.caps = {{"max_precise", "3"}};
  return facts;
}

std::string Why(const EventSelection& selection, EngineKind engine) {
  for (const EngineRefusal& refusal : selection.refusals) {
    if (refusal.engine == engine) return std::string(refusal.reason);
  }
  return "";
}

const EventLadder& Ladder(const EventSelection& selection, size_t event = 0) {
  return selection.plans.at(0).access.at(event);
}

TEST(IbsSelection, WithoutAFilterForTheKernelARightIsNeeded) {
  EngineFacts facts = Zen4();
  EXPECT_NE(Why(SelectEvents(facts, {}), EngineKind::kIbs).find("needs a right"),
            std::string::npos);
  facts.kernel.perf_event_paranoid = 1;
  const EventSelection selection = SelectEvents(facts, {});
  for (const EventAttempt& attempt : Ladder(selection)) {
    EXPECT_FALSE(attempt.attr.exclude_kernel || attempt.attr.exclude_hv);
    EXPECT_EQ(attempt.scope, EventScope::kThread);
  }
  facts.kernel.perf_event_paranoid = 2;
  AddField(facts.pmus.pmus[0], "swfilt", "config2:0");
  const EventSelection filtered = SelectEvents(facts, {});
  for (const EventAttempt& attempt : Ladder(filtered)) {
    EXPECT_TRUE(attempt.attr.exclude_kernel);
    EXPECT_EQ(attempt.attr.config2, 1u);
    EXPECT_EQ(attempt.attr.sample_type & PERF_SAMPLE_PHYS_ADDR, 0u) << "no right to it";
  }
}

TEST(IbsSelection, OldKernelsSampleWholeCpus) {
  EngineFacts facts = Zen4();
  facts.kernel.version = {6, 1};
  facts.kernel.perf_event_paranoid = 0;
  const EventSelection selection = SelectEvents(facts, {});
  const EventLadder& ladder = Ladder(selection);
  EXPECT_EQ(ladder.at(0).scope, EventScope::kThread) << "distributions carry it back";
  EXPECT_EQ(ladder.at(1).scope, EventScope::kCpu);
}

TEST(IbsSelection, OpsAreCountedAndFiltersSet) {
  EngineFacts facts = Zen4();
  facts.privileges.perfmon = true;
  EventRequest request;
  EXPECT_EQ(Ladder(SelectEvents(facts, request)).at(0).attr.config, 0x80000u);
  request.l3_miss_only = true;
  request.latency_cycles = 200;
  const EventSelection selection = SelectEvents(facts, request);
  const EventAttempt& first = Ladder(selection).at(0);
  EXPECT_EQ(first.attr.config, 0x90000u);
  EXPECT_EQ(first.event, "ibs_op/cnt_ctl=1,l3missonly=1/");
  EXPECT_NE(first.loss.find("Zen 5"), base::String::npos);
}

TEST(IbsSelection, PeriodsAreMultiplesOfSixteen) {
  EngineFacts facts = Zen4();
  facts.privileges.perfmon = true;
  EventRequest request;
  for (const uint64_t period : {1ul, 161ul, 100003ul, ~0ul}) {
    request.period = period;
    const EventSelection selection = SelectEvents(facts, request);
    const EnginePlan& plan = selection.plans.at(0);
    EXPECT_EQ(plan.period % 16, 0u);
    EXPECT_GE(plan.period - plan.period / 16, 0x90u);
    EXPECT_FALSE(plan.rate_change.empty());
    EXPECT_EQ(plan.access[0][0].attr.sample_period, plan.period);
  }
  request.period = 1600;
  EXPECT_TRUE(SelectEvents(facts, request).plans.at(0).rate_change.empty());
}

TEST(PebsSelection, LoadsNeedTheirLeaderWhereSysfsShowsIt) {
  EngineFacts facts = SapphireRapids();
  const EventSelection selection = SelectEvents(facts, {});
  ASSERT_EQ(selection.plans.at(0).access.size(), 2u);
  for (const EventAttempt& attempt : Ladder(selection, 0)) {
    EXPECT_TRUE(attempt.has_leader);
    EXPECT_EQ(attempt.leader.config, 0x8203u);
    EXPECT_EQ(attempt.leader.sample_period, 0u);
    EXPECT_FALSE(attempt.leader.disabled);
    EXPECT_EQ(attempt.attr.config, 0x1cdu);
    EXPECT_EQ(attempt.attr.config1, 3u);
  }
  for (const EventAttempt& attempt : Ladder(selection, 1)) {
    EXPECT_FALSE(attempt.has_leader);
    EXPECT_EQ(attempt.attr.config, 0x2cdu);
  }
  facts.pmus.pmus[0].events.pop_back();
  EXPECT_FALSE(Ladder(SelectEvents(facts, {})).at(0).has_leader);
}

TEST(PebsSelection, PrecisionEndsAtTwo) {
  const EventSelection selection = SelectEvents(SapphireRapids(), {});
  EXPECT_EQ(Ladder(selection).front().attr.precise_ip, 3u);
  EXPECT_EQ(Ladder(selection).back().attr.precise_ip, 2u);
}

TEST(PebsSelection, NothingForbidsLargePebsButTheTime) {
  constexpr uint64_t kForbids =
      PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_READ;
  const EventSelection selection = SelectEvents(SapphireRapids(), {});
  for (const EventLadder& ladder : selection.plans.at(0).access) {
    for (const EventAttempt& attempt : ladder) {
      EXPECT_EQ(attempt.attr.sample_type & kForbids, 0u);
      EXPECT_FALSE(attempt.attr.freq || attempt.attr.wakeup_events);
    }
  }
}

TEST(PebsSelection, OneThresholdWithinTheField) {
  EventRequest request;
  for (const auto& [asked, set] :
       {std::pair<uint64_t, uint64_t>{0, 3}, {1, 3}, {30, 30}, {1 << 20, 0xffff}}) {
    request.latency_cycles = asked;
    EXPECT_EQ(Ladder(SelectEvents(SapphireRapids(), request)).at(0).attr.config1, set);
  }
}

}  // namespace
}  // namespace memagent::capture
