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

EngineFacts Graviton() {
  EngineFacts facts;
  facts.cpu.vendor = "0x41";
  facts.kernel.version = {6, 12};
  facts.pmus.sysfs = true;
  os::Pmu& spe = facts.pmus.pmus.emplace_back();
  spe.name = "arm_spe_0";
  spe.type = 8;
  AddField(spe, "ts_enable", "config:0");
  AddField(spe, "pa_enable", "config:1");
  AddField(spe, "jitter", "config:16");
  AddField(spe, "load_filter", "config:33");
  AddField(spe, "store_filter", "config:34");
  AddField(spe, "event_filter", "config1:0-63");
  AddField(spe, "min_latency", "config2:0-11");
  spe.caps = {{"min_interval", "1024"}};
  return facts;
}

TEST(SpeSelection, PacketsOfRetiredLoadsAndStoresAreAskedFor) {
  const EventSelection selection = SelectEvents(Graviton(), {});
  const EnginePlan& plan = selection.plans.at(0);
  EXPECT_TRUE(plan.uses_aux && plan.varies_itself);
  const perf_event_attr& attr = plan.access.at(0).at(0).attr;
  EXPECT_EQ(attr.config, 0x6'0001'0001u) << "facts: perf_abi 4.1";
  EXPECT_EQ(attr.config1, 2u);
  EXPECT_EQ(attr.config2, 0u);
  EXPECT_TRUE(attr.sample_id_all && attr.exclude_kernel && !attr.freq);
  EXPECT_EQ(attr.sample_type & (PERF_SAMPLE_IP | PERF_SAMPLE_ADDR), 0u);
  EXPECT_EQ(attr.sample_period % 256, 0u);
}

TEST(SpeSelection, EachStepDownLosesOneThing) {
  EngineFacts facts = Graviton();
  facts.privileges.perfmon = true;
  EventRequest request;
  request.latency_cycles = 1 << 20;
  const EventSelection selection = SelectEvents(facts, request);
  const EventLadder& ladder = Ladder(selection);
  ASSERT_EQ(ladder.size(), 5u);
  EXPECT_EQ(ladder[0].attr.config & 2, 2u);
  EXPECT_EQ(ladder[0].attr.config2, 4095u);
  EXPECT_TRUE(ladder[0].loss.empty());
  EXPECT_EQ(ladder[1].attr.config & 2, 0u);
  EXPECT_EQ(ladder[2].attr.config1, 0u);
  EXPECT_EQ(ladder[3].attr.config2, 0u);
  EXPECT_EQ(ladder[4].attr.config, 0x10001u);
}

TEST(SpeSelection, PeriodIsNotBelowTheCpusInterval) {
  EventRequest request;
  request.period = 300;
  const EventSelection selection = SelectEvents(Graviton(), request);
  EXPECT_EQ(selection.plans.at(0).period, 1024u);
  EXPECT_FALSE(selection.plans.at(0).rate_change.empty());
}

TEST(SpeSelection, EachKindOfCoreHasItsOwnEvent) {
  EngineFacts facts = Graviton();
  facts.pmus.pmus.push_back(facts.pmus.pmus[0]);
  facts.pmus.pmus[1].name = "arm_spe_1";
  facts.pmus.pmus[1].type = 9;
  const EventSelection selection = SelectEvents(facts, {});
  ASSERT_EQ(selection.plans.at(0).access.size(), 2u);
  EXPECT_EQ(Ladder(selection, 1).at(0).attr.type, 9u);
}

TEST(ProfileMeSelection, IsOnlySpokenOfWhereItIsOrWasAskedFor) {
  EngineFacts facts;
  facts.pmus.sysfs = true;
  EXPECT_EQ(Why(SelectEvents(facts, {}), EngineKind::kProfileMe), "");
  EventRequest request;
  request.automatic = false;
  request.engine = EngineKind::kProfileMe;
  EXPECT_NE(Why(SelectEvents(facts, request), EngineKind::kProfileMe), "");
  os::Pmu& cpu = facts.pmus.pmus.emplace_back();
  cpu.name = "cpu";
  AddField(cpu, "event", "config:0-7");
  AddField(cpu, "profileme", "config:8");
  AddField(cpu, "randomize", "config:9");
  const EventSelection selection = SelectEvents(facts, request);
  ASSERT_EQ(selection.plans.size(), 1u);
  EXPECT_EQ(Ladder(selection).at(0).attr.config, 0x302u);
  EXPECT_NE(Ladder(selection).at(0).attr.sample_type & PERF_SAMPLE_RAW, 0u);
  EXPECT_TRUE(selection.plans[0].varies_itself);
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
