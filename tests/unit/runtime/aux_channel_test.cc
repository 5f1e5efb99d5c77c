// Samples of Arm SPE, from the bytes of an AUX area to pending samples.
#include "agent/runtime/aux_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "agent/capture/event_attempts.h"
#include "agent/runtime/thread_observer.h"
#include "tests/support/fake_perf.h"
#include "tests/support/spe_builder.h"

namespace memagent::runtime {
namespace {

using ::memagent::testing::FakeEvent;
using ::memagent::testing::FakePerf;
using ::memagent::testing::SpeBuilder;

constexpr uint32_t kSpeType = 77;
constexpr Tid kTid = 4'000'000;  // beyond what the kernel gives out
constexpr uint64_t kSpeConfig = 0x600010001;

capture::EventSelection SpeSelection() {
  capture::EventSelection selection;
  capture::EnginePlan& plan = selection.plans.emplace_back();
  plan.engine = EngineKind::kSpe;
  plan.uses_aux = plan.varies_itself = true;
  plan.period = 1 << 20;
  plan.period_step = plan.shortest_period = 256;
  capture::EventAttempt attempt;
  attempt.attr = capture::NewSamplingAttr(kSpeType, kSpeConfig, plan.period);
  attempt.attr.sample_type = capture::kCommonSample & ~uint64_t{PERF_SAMPLE_IP};
  attempt.attr.sample_id_all = 1;
  plan.access.emplace_back().push_back(attempt);
  capture::EventAttempt fault;
  fault.attr = capture::NewSamplingAttr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, 1);
  fault.attr.sample_type |= PERF_SAMPLE_ADDR;
  selection.minor_faults.push_back(fault);
  fault.attr.config = PERF_COUNT_SW_PAGE_FAULTS_MAJ;
  selection.major_faults.push_back(fault);
  return selection;
}

// A thread under observation by SPE: CPUs 0 and 1 have the common code, 2 has AmpereOne's.
class SpeThreadTest : public ::testing::Test {
 protected:
  SpeThreadTest() {
    record_.serial = 5;
    record_.tid = kTid;
    const decode::SpeCpu common = {decode::SpeEncoding::kCommon, false};
    context_.spe_cpus =
        SpeCpus({common, common, decode::SpeCpu{decode::SpeEncoding::kAmpereOne, false}});
  }
  OpenOutcome Open() { return observer_.Open(selection_, &selection_.plans[0], {}, 8, 1); }
  FakeEvent& Spe() { return *perf_.Find(kSpeType, kSpeConfig); }
  FakeEvent& Minor() { return *perf_.Find(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN); }
  const base::Vector<PendingSample>& Read() {
    batch_.clear();
    observer_.Read(batch_, accounting_);
    observer_.BookLosses(accounting_, batch_);
    return batch_;
  }
  uint64_t Dropped(DropReason reason) const {
    return accounting_.dropped[static_cast<size_t>(reason)];
  }

  FakePerf perf_;
  capture::EventSelection selection_ = SpeSelection();
  ledger::ThreadRecord record_ = {};
  ObserverContext context_;
  aggregate::Accounting accounting_;
  base::Vector<PendingSample> batch_;
  ThreadObserver observer_{&record_, context_};
};

std::vector<uint8_t> Load(uint64_t pc, uint64_t address, uint64_t ticks) {
  return SpeBuilder()
      .Pc(pc)
      .Load()
      .Virtual(address)
      .TotalLatency(300)
      .Source(0x0e)
      .Timestamp(ticks)
      .bytes();
}

TEST_F(SpeThreadTest, RecordBecomesASampleWithAllItSays) {
  ASSERT_NE(Open().access, nullptr);
  perf_.WriteAux(Spe(), Load(0x401000, 0x7f0000001000, 5000), 0, 1, 99);
  ASSERT_EQ(Read().size(), 1u);
  const PendingSample& sample = batch_[0];
  EXPECT_EQ(sample.thread, 5u);
  EXPECT_TRUE(sample.in_ticks);
  EXPECT_EQ(sample.raw.time, 5000u);
  EXPECT_EQ(sample.raw.cpu, 1u);
  EXPECT_EQ(sample.raw.ip, 0x401000u);
  EXPECT_EQ(sample.scale, 1);
  ASSERT_TRUE(sample.hardware.has_value());
  EXPECT_EQ(sample.hardware->access.evidence, Evidence::kExact);
  EXPECT_EQ(sample.hardware->access.address, 0x7f0000001000u);
  EXPECT_TRUE(sample.hardware->access.is_load);
  EXPECT_EQ(sample.hardware->latency_cycles, 300u);
  EXPECT_EQ(sample.hardware->source.level, MemoryLevel::kDram);
  EXPECT_EQ(observer_.accesses()[0].counts().samples, 1u);
}

TEST_F(SpeThreadTest, MissingDataSourceIsNotAnL1Hit) {
  Open();
  perf_.WriteAux(Spe(), SpeBuilder().Pc(0x1000).Load().Virtual(0x2000).Timestamp(1).bytes());
  ASSERT_EQ(Read().size(), 1u);
  EXPECT_EQ(batch_[0].hardware->source.level, MemoryLevel::kUnknown);
}

TEST_F(SpeThreadTest, DataSourceIsReadInTheCodeOfTheCpuThatWroteIt) {
  Open();
  perf_.WriteAux(Spe(), Load(0x1000, 0x2000, 1), 0, 0);
  perf_.WriteAux(Spe(), Load(0x1000, 0x2000, 2), 0, 2);
  ASSERT_EQ(Read().size(), 2u);
  EXPECT_EQ(batch_[0].raw.cpu, 0u);
  EXPECT_EQ(batch_[1].raw.cpu, 2u);
  const decode::SpeRecord record = [] {
    decode::SpeRecord made;
    made.is_load = true;
    made.virtual_address = 0x2000;
    made.data_source = 0x0e;
    return made;
  }();
  EXPECT_EQ(batch_[1].hardware->source.level,
            decode::SpeDataSource(record, {decode::SpeEncoding::kAmpereOne, false}).level);
}

TEST_F(SpeThreadTest, KernelRecordIsToldByItsExceptionLevel) {
  Open();
  constexpr uint64_t kLevel1 = uint64_t{1} << 61;
  perf_.WriteAux(Spe(), Load(0x1000 | kLevel1, 0x2000, 1));
  ASSERT_EQ(Read().size(), 1u);
  EXPECT_EQ(batch_[0].hardware->access.evidence, Evidence::kPcOnly);
  EXPECT_EQ(batch_[0].hardware->why, UnattributedReason::kKernelAddress);
}

TEST_F(SpeThreadTest, OtherInstructionsAndUnknownAddressesAreTold) {
  Open();
  perf_.WriteAux(Spe(), SpeBuilder().Pc(0x1000).Branch().Timestamp(1).bytes());
  perf_.WriteAux(Spe(), SpeBuilder().Pc(0x1000).Store().Timestamp(2).bytes());
  ASSERT_EQ(Read().size(), 2u);
  EXPECT_EQ(batch_[0].hardware->access.evidence, Evidence::kNone);
  EXPECT_EQ(batch_[0].hardware->why, UnattributedReason::kNotMemory);
  EXPECT_EQ(batch_[1].hardware->access.evidence, Evidence::kPcOnly);
  EXPECT_EQ(batch_[1].hardware->why, UnattributedReason::kAddressUnknown);
}

TEST_F(SpeThreadTest, RecordWithoutTimestampHasTheTimeOfItsAnnouncement) {
  Open();
  perf_.WriteAux(Spe(), SpeBuilder().Pc(0x1000).Load().Virtual(0x2000).End().bytes(), 0, 0, 777);
  ASSERT_EQ(Read().size(), 1u);
  EXPECT_FALSE(batch_[0].in_ticks);
  EXPECT_EQ(batch_[0].raw.time, 777u);
}

TEST_F(SpeThreadTest, DamagedAndCutRecordsAreDroppedAndCounted) {
  Open();
  SpeBuilder bytes;
  bytes.Pc(0x1000).Load().Byte(0xff).Virtual(0x2000).Timestamp(1);
  bytes.Pc(0x1000).Load().Virtual(0x2000).Timestamp(2);
  bytes.Pc(0x1000).Load();  // cut
  perf_.WriteAux(Spe(), bytes.bytes(), PERF_AUX_FLAG_PARTIAL);
  observer_.SetPeriod(selection_.plans[0], 3, 0);
  ASSERT_EQ(Read().size(), 1u);
  EXPECT_EQ(batch_[0].raw.time, 2u);
  EXPECT_EQ(batch_[0].scale, 3);
  EXPECT_EQ(Dropped(DropReason::kDamagedRecord), 2u * 3);
  EXPECT_EQ(observer_.accesses()[0].counts().aux_partial, 1u);
}

// Enabling alone would not do: the kernel may have stopped the event without disabling it.
TEST_F(SpeThreadTest, FullAreaIsCountedAndTheEventStartedAgainAfterItWasRead) {
  Open();
  perf_.WriteAux(Spe(), Load(1, 2, 3), PERF_AUX_FLAG_TRUNCATED);
  std::vector<unsigned long> requests;
  perf_.on_control = [&](const FakeEvent& event, unsigned long request) {
    EXPECT_EQ(perf_.Page(event)->aux_tail, perf_.Page(event)->aux_head);
    requests.push_back(request);
    return 0;
  };
  EXPECT_EQ(Read().size(), 1u);
  EXPECT_THAT(requests, ::testing::ElementsAre(PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_ENABLE));
  Read();
  EXPECT_EQ(requests.size(), 2u);
  EXPECT_EQ(observer_.accesses()[0].counts().aux_full, 1u);
}

TEST_F(SpeThreadTest, CollisionsAreCounted) {
  Open();
  perf_.WriteAux(Spe(), {}, PERF_AUX_FLAG_COLLISION);
  EXPECT_TRUE(Read().empty());
  EXPECT_EQ(observer_.accesses()[0].counts().aux_collided, 1u);
}

TEST_F(SpeThreadTest, EveryPositionInTheAreaReadsTheSame) {
  Open();
  const std::vector<uint8_t> load = Load(0x1000, 0x2000, 7);
  const size_t area = Spe().aux_bytes;
  uint64_t samples = 0;
  for (size_t written = 0; written < 3 * area; written += load.size()) {
    perf_.WriteAux(Spe(), load);
    samples += Read().size();
    ASSERT_EQ(batch_[0].raw.time, 7u);
  }
  EXPECT_EQ(samples, (3 * area + load.size() - 1) / load.size());
  EXPECT_EQ(Dropped(DropReason::kDamagedRecord), 0u);
}

TEST_F(SpeThreadTest, UnannouncedBytesAreReadBeforeTheNextChunkAndOfNoKnownCpu) {
  Open();
  perf_.WriteArea(Spe(), Load(0x1000, 0x2000, 1));  // its record found no room
  perf_.WriteAux(Spe(), Load(0x1000, 0x2000, 2), 0, 1);
  ASSERT_EQ(Read().size(), 2u);
  EXPECT_EQ(batch_[0].raw.cpu, SpeCpus::kUnknownCpu);
  EXPECT_EQ(batch_[1].raw.cpu, 1u);
}

TEST_F(SpeThreadTest, WhatIsLeftOfAnEndedThreadIsReadWithoutAWord) {
  Open();
  perf_.WriteArea(Spe(), Load(0x1000, 0x2000, 1));
  EXPECT_TRUE(Read().empty());
  observer_.LookWhetherEnded(getpid());  // there is no such thread
  ASSERT_TRUE(observer_.has_ended());
  EXPECT_EQ(Read().size(), 1u);
  EXPECT_TRUE(Read().empty());
}

TEST_F(SpeThreadTest, PageFaultsGoToTheRingBeside) {
  Open();
  EXPECT_NE(Minor().output, Spe().fd);
  EXPECT_EQ(Spe().output, -1);
  memagent::testing::RecordBuilder fault(PERF_RECORD_SAMPLE);
  fault.U64(Minor().id).U64(0x1000).U32(1).U32(kTid).U64(50).U64(0x5000).U32(0).U32(0);
  ASSERT_TRUE(perf_.Write(Minor(), fault.Bytes()));
  perf_.WriteAux(Spe(), Load(1, 2, 3));
  ASSERT_EQ(Read().size(), 2u);
  EXPECT_TRUE(batch_[0].is_fault);
  EXPECT_EQ(batch_[0].raw.address, 0x5000u);
  EXPECT_TRUE(batch_[1].hardware.has_value());
}

TEST_F(SpeThreadTest, MovingThePeriodKeepsItNominal) {
  Open();
  observer_.SetPeriod(selection_.plans[0], 1, 12345);
  EXPECT_EQ(Spe().period, uint64_t{1} << 20);
}

TEST_F(SpeThreadTest, AreaOverTheAllowanceIsHalved) {
  size_t refused = 0;
  perf_.on_map = [&](const FakeEvent&, bool is_aux) {
    return is_aux && ++refused < 3 ? -EPERM : 0;
  };
  ASSERT_NE(Open().access, nullptr);
  EXPECT_EQ(Spe().aux_bytes, (size_t{128} << 10) / 4);
}

TEST_F(SpeThreadTest, WithoutAnAreaThereAreStillPageFaults) {
  for (const int error : {EPERM, ENOMEM, EINVAL, EOPNOTSUPP, EBUSY, EACCES}) {
    perf_.on_map = [&](const FakeEvent&, bool is_aux) { return is_aux ? -error : 0; };
    const OpenOutcome outcome = Open();
    EXPECT_EQ(outcome.access, nullptr);
    EXPECT_NE(outcome.minor, nullptr);
    EXPECT_EQ(outcome.error, error);
    EXPECT_EQ(outcome.failed_step, capture::EngineStep::kMapAux);
  }
}

TEST_F(SpeThreadTest, MalformedAnnouncementIsCountedAndNotUsed) {
  Open();
  memagent::testing::RecordBuilder record(PERF_RECORD_AUX);
  record.U64(0).U64(UINT64_MAX / 2).U64(0);
  record.U32(1).U32(kTid).U64(1).U32(0).U32(0).U64(Spe().id);
  ASSERT_TRUE(perf_.Write(Spe(), record.Bytes()));
  ASSERT_TRUE(perf_.Write(Spe(), memagent::testing::RecordBuilder(PERF_RECORD_AUX).U64(1).Bytes()));
  EXPECT_TRUE(Read().empty());
  EXPECT_EQ(Dropped(DropReason::kMalformedRecord), 1u);
}

}  // namespace
}  // namespace memagent::runtime
