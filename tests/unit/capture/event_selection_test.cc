#include "agent/capture/event_selection.h"

#include <gtest/gtest.h>
#include <time.h>

#include <cstring>
#include <string>

#include "agent/os/file.h"
#include "agent/os/perf_event.h"

namespace memagent::capture {
namespace {

struct Setting {
  Setting() {
    pmus.sysfs = true;
    kernel.max_sample_rate = 100000;
  }
  os::PmuFacts pmus;
  os::CpuInfo cpu;
  os::KernelSettings kernel;
  EventRequest request;
  EventSelection Select() const { return SelectEvents(pmus, cpu, kernel, request); }
};

std::string Reason(const EventSelection& selection, EngineKind engine) {
  for (const EngineRefusal& refusal : selection.refusals()) {
    if (refusal.engine == engine) return std::string(refusal.reason);
  }
  return "";
}

TEST(EventSelection, AutoTakesSoftwareWhereThereIsNoPmu) {
  const EventSelection selection = Setting().Select();
  EXPECT_EQ(selection.engine, EngineKind::kSoftware);
  ASSERT_EQ(selection.refusals().size(), 3u);
  for (const EngineRefusal& refusal : selection.refusals()) {
    EXPECT_NE(std::string(refusal.reason).find("sysfs has no"), std::string::npos);
    EXPECT_FALSE(refusal.remedy.empty());
  }
}

TEST(EventSelection, ReasonsFollowTheFacts) {
  Setting setting;
  setting.pmus = {
      .sysfs = true, .ibs_op = true, .mem_loads = true, .max_precise = 3, .arm_spe = true};
  EventSelection selection = setting.Select();
  for (const EngineKind engine : {EngineKind::kIbs, EngineKind::kPebs, EngineKind::kSpe}) {
    EXPECT_NE(Reason(selection, engine).find("can't drive it yet"), std::string::npos);
  }
  setting.pmus = {};
  setting.pmus.sysfs = setting.pmus.mem_loads = true;
  EXPECT_NE(Reason(setting.Select(), EngineKind::kPebs).find("max_precise"), std::string::npos);
  setting.pmus = {};
  EXPECT_NE(Reason(setting.Select(), EngineKind::kIbs).find("can't be read"), std::string::npos);
  setting.pmus.sysfs = true;
  setting.cpu.vendor = "AuthenticAMD";
  setting.cpu.in_hypervisor = true;
  EXPECT_NE(Reason(setting.Select(), EngineKind::kIbs).find("guests"), std::string::npos);
}

#if defined(__x86_64__)
TEST(EventSelection, SoftwareEventAsksForExactlyWhatIsNeeded) {
  const EventSelection selection = Setting().Select();
  ASSERT_EQ(selection.access.view().size(), 3u);
  const EventAttempt& first = selection.access.view()[0];
  EXPECT_EQ(first.event, "software/cpu-clock");
  EXPECT_TRUE(first.loss.empty());
  EXPECT_TRUE(first.has_registers);
  EXPECT_EQ(first.attr.type, static_cast<uint32_t>(PERF_TYPE_SOFTWARE));
  EXPECT_EQ(first.attr.sample_type,
            static_cast<uint64_t>(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                  PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER));
  EXPECT_EQ(first.attr.sample_regs_user, 0xff0fffu);
  EXPECT_EQ(first.attr.sample_period, 1'000'000u);
  EXPECT_TRUE(first.attr.exclude_kernel && first.attr.use_clockid && first.attr.disabled);
  EXPECT_FALSE(first.attr.freq || first.attr.inherit);
  EXPECT_EQ(first.attr.clockid, CLOCK_MONOTONIC);
  for (const EventAttempt& later : selection.access.view().subspan(1)) {
    EXPECT_FALSE(later.loss.empty()) << later.event;
  }
}
#endif

TEST(EventSelection, FaultEventsHaveTheAddressAndNeverThePeriod) {
  Setting setting;
  setting.request.fault_period = 16;
  const EventSelection selection = setting.Select();
  EXPECT_EQ(selection.minor_faults.view()[0].attr.config,
            static_cast<uint64_t>(PERF_COUNT_SW_PAGE_FAULTS_MIN));
  EXPECT_EQ(selection.major_faults.view()[0].attr.config,
            static_cast<uint64_t>(PERF_COUNT_SW_PAGE_FAULTS_MAJ));
  for (const EventLadder* ladder : {&selection.minor_faults, &selection.major_faults}) {
    for (const EventAttempt& attempt : ladder->view()) {
      EXPECT_NE(attempt.attr.sample_type & PERF_SAMPLE_ADDR, 0u);
      EXPECT_EQ(attempt.attr.sample_type & PERF_SAMPLE_PERIOD, 0u);
      EXPECT_EQ(attempt.attr.sample_period, 16u);
    }
  }
}

TEST(EventSelection, PeriodWinsOverRate) {
  Setting setting;
  setting.request.rate_hz = 4000;
  EXPECT_EQ(setting.Select().period_nanos, 250'000u);
  setting.request.period_nanos = 123'456;
  EXPECT_EQ(setting.Select().period_nanos, 123'456u);
  EXPECT_TRUE(setting.Select().rate_change.empty());
}

TEST(EventSelection, RateBeyondTheKernelIsLoweredWithAReason) {
  Setting setting;
  setting.request.rate_hz = 1'000'000;
  EXPECT_EQ(setting.Select().period_nanos, 20'000u);  // half of 100000 a second
  EXPECT_FALSE(setting.Select().rate_change.empty());
  setting.kernel.max_sample_rate = 0;
  EXPECT_EQ(setting.Select().period_nanos, kMinClockPeriodNanos);
}

TEST(EventSelection, RateOfNothingBecomesOneASecond) {
  Setting setting;
  setting.request.rate_hz = 0;
  EXPECT_EQ(setting.Select().period_nanos, kMaxClockPeriodNanos);
  setting.request.period_nanos = UINT64_MAX;
  EXPECT_EQ(setting.Select().period_nanos, kMaxClockPeriodNanos);
  EXPECT_FALSE(setting.Select().rate_change.empty());
}

TEST(EventSelection, AnotherEngineAskedForLeavesSoftwareOut) {
  Setting setting;
  setting.request.automatic = false;
  for (const EngineKind engine : {EngineKind::kIbs, EngineKind::kNone}) {
    setting.request.engine = engine;
    const EventSelection selection = setting.Select();
    EXPECT_EQ(selection.engine, EngineKind::kNone);
    EXPECT_EQ(selection.access.count, 0u);
    EXPECT_GT(selection.minor_faults.count, 0u) << "first touch runs beside every engine";
    EXPECT_NE(Reason(selection, EngineKind::kSoftware), "");
  }
}

TEST(EventSelectionLive, EveryAttemptOpensHere) {
  const EventSelection selection =
      SelectEvents(os::ReadPmuFacts(), {}, os::ReadKernelSettings(), {});
  perf_event_attr first = selection.access.view()[0].attr;
  const os::UniqueFd probe(os::OpenPerfEvent(first, 0));
  if (!probe.valid())
    GTEST_SKIP() << "perf_event_open is refused here: " << strerror(probe.error());
  for (const EventLadder* ladder :
       {&selection.access, &selection.minor_faults, &selection.major_faults}) {
    for (const EventAttempt& attempt : ladder->view()) {
      perf_event_attr attr = attempt.attr;
      EXPECT_TRUE(os::UniqueFd(os::OpenPerfEvent(attr, 0)).valid()) << attempt.event;
    }
  }
}

}  // namespace
}  // namespace memagent::capture
