#include "agent/capture/event_selection.h"

#include <gtest/gtest.h>
#include <time.h>

#include <cstring>
#include <string>

#include "agent/capture/sampling_period.h"
#include "agent/os/file.h"
#include "agent/os/perf_event.h"

namespace memagent::capture {
namespace {

struct Setting {
  Setting() {
    facts.pmus.sysfs = true;
    facts.kernel.max_sample_rate = 100000;
  }
  EngineFacts facts;
  EventRequest request;
  EventSelection Select() const { return SelectEvents(facts, request); }
  EnginePlan Software() const { return Select().plans.at(0); }
};

os::Pmu NamedPmu(std::string_view name) {
  os::Pmu pmu;
  pmu.name = name;
  pmu.fields.push_back({"event", *os::ParsePmuBits("config:0-7")});
  return pmu;
}

std::string Reason(const EventSelection& selection, EngineKind engine) {
  for (const EngineRefusal& refusal : selection.refusals) {
    if (refusal.engine == engine) return std::string(refusal.reason);
  }
  return "";
}

TEST(EventSelection, AutoTakesSoftwareWhereThereIsNoPmu) {
  const EventSelection selection = Setting().Select();
  ASSERT_EQ(selection.plans.size(), 1u);
  EXPECT_EQ(selection.plans[0].engine, EngineKind::kSoftware);
  ASSERT_EQ(selection.refusals.size(), 3u);
  for (const EngineRefusal& refusal : selection.refusals) {
    EXPECT_NE(std::string(refusal.reason).find("sysfs has no"), std::string::npos);
    EXPECT_FALSE(refusal.remedy.empty());
  }
}

TEST(EventSelection, ReasonsFollowTheFacts) {
  Setting setting;
  os::Pmu cpu = NamedPmu("cpu");
  cpu.events.push_back({"mem-loads", *os::ParsePmuTerms("event=0xcd")});
  cpu.caps.push_back({"max_precise", "0"});
  setting.facts.pmus.pmus = {cpu};
  EXPECT_NE(Reason(setting.Select(), EngineKind::kPebs).find("max_precise"), std::string::npos);
  setting.facts.pmus = {};
  for (const EngineKind engine : {EngineKind::kIbs, EngineKind::kPebs, EngineKind::kSpe}) {
    EXPECT_NE(Reason(setting.Select(), engine).find("can't be read"), std::string::npos);
  }
  setting.facts.pmus.sysfs = true;
  setting.facts.cpu.vendor = "AuthenticAMD";
  EXPECT_NE(Reason(setting.Select(), EngineKind::kIbs).find("is AMD's"), std::string::npos);
  setting.facts.cpu.in_hypervisor = true;
  EXPECT_NE(Reason(setting.Select(), EngineKind::kIbs).find("guests"), std::string::npos);
  setting.facts.cpu.vendor = "GenuineIntel";
  EXPECT_NE(Reason(setting.Select(), EngineKind::kPebs).find("this guest"), std::string::npos);
  setting.facts.cpu.vendor = "0x41";
  EXPECT_NE(Reason(setting.Select(), EngineKind::kSpe).find("driver"), std::string::npos);
}

TEST(NextPlan, GoesThroughAllOnce) {
  EventSelection selection;
  EXPECT_EQ(NextPlan(selection, nullptr), nullptr);
  selection.plans.resize(2);
  selection.plans[1].engine = EngineKind::kSoftware;
  EXPECT_EQ(NextPlan(selection, nullptr), &selection.plans[0]);
  EXPECT_EQ(NextPlan(selection, &selection.plans[0]), &selection.plans[1]);
  EXPECT_EQ(NextPlan(selection, &selection.plans[1]), nullptr);
  EXPECT_EQ(FindPlan(selection, EngineKind::kSoftware), &selection.plans[1]);
  EXPECT_EQ(FindPlan(selection, EngineKind::kSpe), nullptr);
}

#if defined(__x86_64__)
TEST(EventSelection, SoftwareEventAsksForExactlyWhatIsNeeded) {
  const EnginePlan plan = Setting().Software();
  ASSERT_EQ(plan.access.size(), 1u);
  const EventLadder& ladder = plan.access[0];
  ASSERT_EQ(ladder.size(), 3u);
  const EventAttempt& first = ladder[0];
  EXPECT_EQ(first.event, "software/cpu-clock");
  EXPECT_TRUE(first.loss.empty());
  EXPECT_TRUE(first.has_registers);
  EXPECT_FALSE(first.has_leader);
  EXPECT_EQ(first.scope, EventScope::kThread);
  EXPECT_EQ(first.attr.type, static_cast<uint32_t>(PERF_TYPE_SOFTWARE));
  EXPECT_EQ(first.attr.sample_type,
            static_cast<uint64_t>(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                  PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER));
  EXPECT_EQ(first.attr.sample_regs_user, 0xff0fffu);
  EXPECT_EQ(first.attr.sample_period, 1'000'000u);
  EXPECT_TRUE(first.attr.exclude_kernel && first.attr.use_clockid && first.attr.disabled);
  EXPECT_FALSE(first.attr.freq || first.attr.inherit);
  EXPECT_EQ(first.attr.clockid, CLOCK_MONOTONIC);
  for (size_t i = 1; i < ladder.size(); ++i) EXPECT_FALSE(ladder[i].loss.empty());
}
#endif

TEST(EventSelection, FaultEventsHaveTheAddressAndNeverThePeriod) {
  Setting setting;
  setting.request.fault_period = 16;
  const EventSelection selection = setting.Select();
  EXPECT_EQ(selection.minor_faults.at(0).attr.config,
            static_cast<uint64_t>(PERF_COUNT_SW_PAGE_FAULTS_MIN));
  EXPECT_EQ(selection.major_faults.at(0).attr.config,
            static_cast<uint64_t>(PERF_COUNT_SW_PAGE_FAULTS_MAJ));
  for (const EventLadder* ladder : {&selection.minor_faults, &selection.major_faults}) {
    for (const EventAttempt& attempt : *ladder) {
      EXPECT_NE(attempt.attr.sample_type & PERF_SAMPLE_ADDR, 0u);
      EXPECT_EQ(attempt.attr.sample_type & PERF_SAMPLE_PERIOD, 0u);
      EXPECT_EQ(attempt.attr.sample_period, 16u);
    }
    EXPECT_NE(ladder->at(0).attr.sample_type & PERF_SAMPLE_DATA_PAGE_SIZE, 0u);
    EXPECT_EQ(ladder->at(1).attr.config, ladder->at(0).attr.config);
    EXPECT_EQ(ladder->at(1).attr.sample_type & PERF_SAMPLE_DATA_PAGE_SIZE, 0u);
  }
}

TEST(EventSelection, PeriodWinsOverRate) {
  Setting setting;
  setting.request.rate_hz = 4000;
  EXPECT_EQ(setting.Software().period, 250'000u);
  EXPECT_EQ(setting.Software().period_unit, "ns");
  setting.request.period = 123'456;
  EXPECT_EQ(setting.Software().period, 123'456u);
  EXPECT_TRUE(setting.Software().rate_change.empty());
}

TEST(EventSelection, RateBeyondTheKernelIsLoweredWithAReason) {
  Setting setting;
  setting.request.rate_hz = 1'000'000;
  EXPECT_EQ(setting.Software().period, 20'000u);  // half of 100000 a second
  EXPECT_FALSE(setting.Software().rate_change.empty());
  setting.facts.kernel.max_sample_rate = 0;
  EXPECT_EQ(setting.Software().period, kMinClockPeriodNanos);
}

TEST(EventSelection, RateOfNothingBecomesOneASecond) {
  Setting setting;
  setting.request.rate_hz = 0;
  EXPECT_EQ(setting.Software().period, kMaxClockPeriodNanos);
  setting.request.period = UINT64_MAX;
  EXPECT_EQ(setting.Software().period, kMaxClockPeriodNanos);
  EXPECT_FALSE(setting.Software().rate_change.empty());
}

TEST(EventSelection, AnotherEngineAskedForLeavesSoftwareOut) {
  Setting setting;
  setting.request.automatic = false;
  for (const EngineKind engine : {EngineKind::kIbs, EngineKind::kNone}) {
    setting.request.engine = engine;
    const EventSelection selection = setting.Select();
    EXPECT_TRUE(selection.plans.empty());
    EXPECT_FALSE(selection.minor_faults.empty()) << "first touch runs beside every engine";
    EXPECT_NE(Reason(selection, EngineKind::kSoftware), "");
  }
}

TEST(EventSelectionLive, EveryAttemptOfSoftwareOpensHere) {
  const EventSelection selection = SelectEvents(ReadEngineFacts(), {});
  const EnginePlan* software = FindPlan(selection, EngineKind::kSoftware);
  ASSERT_NE(software, nullptr);
  perf_event_attr first = software->access.at(0).at(0).attr;
  const os::UniqueFd probe(os::OpenPerfEvent(first, {}));
  if (!probe.valid())
    GTEST_SKIP() << "perf_event_open is refused here: " << strerror(probe.error());
  for (const EventLadder* ladder :
       {&software->access[0], &selection.minor_faults, &selection.major_faults}) {
    for (const EventAttempt& attempt : *ladder) {
      perf_event_attr attr = attempt.attr;
      EXPECT_TRUE(os::UniqueFd(os::OpenPerfEvent(attr, {})).valid()) << attempt.event;
    }
  }
}

}  // namespace
}  // namespace memagent::capture
