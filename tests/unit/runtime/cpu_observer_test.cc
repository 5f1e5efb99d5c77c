// Events of whole CPUs, from the bytes of their rings to this process's samples.
#include "agent/runtime/cpu_observer.h"

#include <errno.h>
#include <gtest/gtest.h>

#include "agent/capture/event_attempts.h"
#include "tests/support/fake_perf.h"
#include "tests/support/record_builder.h"

namespace memagent::runtime {
namespace {

using ::memagent::testing::FakeEvent;
using ::memagent::testing::FakePerf;
using ::memagent::testing::RecordBuilder;

constexpr uint32_t kType = 66;
constexpr int32_t kPid = 100;
constexpr uint32_t kCpus[] = {0, 1, 5};

capture::EnginePlan CpuPlan() {
  capture::EnginePlan plan;
  plan.engine = EngineKind::kIbs;
  plan.period = 160'000;
  plan.period_step = 16;
  plan.shortest_period = 160;
  capture::EventAttempt attempt;
  attempt.attr = capture::NewSamplingAttr(kType, 1, plan.period);
  attempt.attr.sample_type |= PERF_SAMPLE_ADDR;
  plan.access.emplace_back().push_back(attempt);  // a thread's: not for CPUs
  attempt.scope = capture::EventScope::kCpu;
  attempt.attr.config = 2;
  plan.access[0].push_back(attempt);
  attempt.attr.config = 3;
  plan.access[0].push_back(attempt);
  return plan;
}

class CpuObserverTest : public ::testing::Test {
 protected:
  const FakeEvent& OnCpu(int cpu) const {
    for (const auto& [fd, event] : perf_.events()) {
      if (event.target.cpu == cpu) return event;
    }
    ADD_FAILURE() << "no event on CPU " << cpu;
    return perf_.events().begin()->second;
  }
  void WriteSample(int cpu, int32_t pid, uint32_t tid) {
    RecordBuilder record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_EXACT_IP);
    record.U64(OnCpu(cpu).id).U64(0x401000).U32(static_cast<uint32_t>(pid)).U32(tid).U64(77);
    record.U64(0x7f0000001000).U32(static_cast<uint32_t>(cpu)).U32(0);
    ASSERT_TRUE(perf_.Write(OnCpu(cpu), record.Bytes()));
  }
  const base::Vector<PendingSample>& Read() {
    batch_.clear();
    observer_.Read(kPid, {}, batch_);
    return batch_;
  }

  FakePerf perf_;
  capture::EnginePlan plan_ = CpuPlan();
  CpuObserver observer_;
  base::Vector<PendingSample> batch_;
};

TEST_F(CpuObserverTest, OpensEveryCpuOnceWithTheFirstAttemptForCpus) {
  const OpenOutcome outcome = observer_.Open(plan_, kCpus, 8);
  EXPECT_EQ(outcome.access, &plan_.access[0][1]);
  EXPECT_EQ(outcome.rungs, Rungs{1});
  EXPECT_EQ(outcome.error, 0);
  ASSERT_EQ(perf_.events().size(), 3u);
  for (const auto& [fd, event] : perf_.events()) {
    EXPECT_EQ(event.target.tid, -1);
    EXPECT_TRUE(event.enabled);
  }
}

TEST_F(CpuObserverTest, SamplesOfOtherProcessesArePassedOver) {
  observer_.Open(plan_, kCpus, 8);
  WriteSample(0, kPid, 101);
  WriteSample(0, 7, 7);
  WriteSample(5, kPid, 102);
  ASSERT_EQ(Read().size(), 2u);
  EXPECT_EQ(batch_[0].raw.tid, 101);
  EXPECT_EQ(batch_[1].raw.tid, 102);
  EXPECT_EQ(batch_[1].raw.cpu, 5u);
  EXPECT_EQ(batch_[1].raw.address, 0x7f0000001000u);
  EXPECT_EQ(observer_.Sum()[0].samples, 3u);
}

TEST_F(CpuObserverTest, AllOpenOrNone) {
  for (const int error : {EACCES, EPERM, ENOENT, EMFILE, EBUSY, EINVAL}) {
    perf_.on_open = [&](const perf_event_attr&, const os::PerfTarget& target) {
      return target.cpu == 5 ? -error : 0;
    };
    const OpenOutcome outcome = observer_.Open(plan_, kCpus, 8);
    EXPECT_EQ(outcome.access, nullptr);
    EXPECT_EQ(outcome.error, error);
    EXPECT_EQ(outcome.failed->scope, capture::EventScope::kCpu);
    EXPECT_FALSE(observer_.open());
  }
}

TEST_F(CpuObserverTest, OthersAreOpenedWithWhatTheFirstCpuTook) {
  perf_.on_open = [](const perf_event_attr& attr, const os::PerfTarget& target) {
    return target.cpu == 0 && attr.config == 2 ? -EINVAL : 0;
  };
  EXPECT_EQ(observer_.Open(plan_, kCpus, 8).rungs, Rungs{2});
  for (const auto& [fd, event] : perf_.events()) EXPECT_EQ(event.attr.config, 3u);
}

TEST_F(CpuObserverTest, RingsOverTheAllowanceAreHalvedForAll) {
  perf_.on_map = [](const FakeEvent& event, bool) {
    static int calls = 0;
    return event.target.cpu == 0 && ++calls < 3 ? -EPERM : 0;
  };
  ASSERT_NE(observer_.Open(plan_, kCpus, 8).access, nullptr);
  for (const auto& [fd, event] : perf_.events()) {
    EXPECT_EQ(event.data_bytes, 2 * os::PageBytes());
  }
}

TEST_F(CpuObserverTest, RingThatCannotBeMappedIsToldWithItsStep) {
  perf_.on_map = [](const FakeEvent&, bool) { return -EPERM; };
  const OpenOutcome outcome = observer_.Open(plan_, kCpus, 8);
  EXPECT_EQ(outcome.access, nullptr);
  EXPECT_EQ(outcome.error, EPERM);
  EXPECT_EQ(outcome.failed_step, capture::EngineStep::kMap);
}

TEST_F(CpuObserverTest, LossesAreSharedAsTheSamplesOfTheirCpuAre) {
  observer_.Open(plan_, kCpus, 8);
  for (int i = 0; i < 3; ++i) WriteSample(1, 7, 7);
  WriteSample(1, kPid, 101);
  RecordBuilder lost(PERF_RECORD_LOST);
  perf_.Write(OnCpu(1), lost.U64(OnCpu(1).id).U64(20).Bytes());
  perf_.on_read = [](const FakeEvent&) { return -EIO; };  // what records tell has to do
  Read();
  const CpuLosses losses = observer_.TakeLosses();
  EXPECT_EQ(losses.lost, 20u);
  EXPECT_DOUBLE_EQ(losses.lost_here, 5);
  EXPECT_EQ(observer_.TakeLosses().lost, 0u);
}

TEST_F(CpuObserverTest, MalformedRecordsAndUnknownEventsAreCounted) {
  observer_.Open(plan_, kCpus, 8);
  perf_.Write(OnCpu(0), RecordBuilder(PERF_RECORD_SAMPLE).U64(OnCpu(0).id).U64(1).Bytes());
  perf_.Write(OnCpu(0), RecordBuilder(PERF_RECORD_SAMPLE).U64(4711).U64(1).Bytes());
  EXPECT_TRUE(Read().empty());
  EXPECT_EQ(observer_.TakeLosses().malformed, 2u);
}

TEST_F(CpuObserverTest, ThrottlingIsCounted) {
  observer_.Open(plan_, kCpus, 8);
  RecordBuilder throttle(PERF_RECORD_THROTTLE);
  perf_.Write(OnCpu(0), throttle.U64(1).U64(OnCpu(0).id).U64(0).Bytes());
  Read();
  EXPECT_EQ(observer_.Sum()[0].throttled, 1u);
}

TEST_F(CpuObserverTest, LongerPeriodMakesASampleStandForMore) {
  observer_.Open(plan_, kCpus, 8);
  observer_.SetPeriod(plan_, 4, uint64_t{1} << 63);
  EXPECT_EQ(OnCpu(5).period, 640'000u);
  WriteSample(0, kPid, 101);
  ASSERT_EQ(Read().size(), 1u);
  EXPECT_EQ(batch_[0].scale, 4);
}

TEST(OnlineCpus, AreReadFromTheKernelsList) {
  EXPECT_FALSE(OnlineCpus().empty());
  EXPECT_TRUE(OnlineCpus("/nonexistent").empty());
}

}  // namespace
}  // namespace memagent::runtime
