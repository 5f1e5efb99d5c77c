// A thread's events against a kernel that refuses, loses, throttles and writes nonsense.
#include "agent/runtime/thread_observer.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/capture/event_attempts.h"
#include "tests/support/fake_perf.h"
#include "tests/support/record_builder.h"

namespace memagent::runtime {
namespace {

using ::memagent::testing::FakeEvent;
using ::memagent::testing::FakePerf;
using ::memagent::testing::RecordBuilder;

constexpr uint32_t kType = 4;
constexpr uint64_t kLoads = 0x1cd, kStores = 0x2cd;

// Loads with two attempts, stores with one.
capture::EventSelection PebsSelection() {
  capture::EventSelection selection;
  capture::EnginePlan& plan = selection.plans.emplace_back();
  plan.engine = EngineKind::kPebs;
  plan.period = 100'000;
  capture::EventAttempt attempt;
  attempt.attr = capture::NewSamplingAttr(kType, kLoads, plan.period);
  attempt.attr.sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
  attempt.attr.precise_ip = 3;
  plan.access.emplace_back().push_back(attempt);
  attempt.attr.precise_ip = 2;
  plan.access[0].push_back(attempt);
  attempt.attr.config = kStores;
  plan.access.emplace_back().push_back(attempt);
  capture::EventAttempt fault;
  fault.attr = capture::NewSamplingAttr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, 1);
  fault.attr.sample_type |= PERF_SAMPLE_ADDR;
  selection.minor_faults.push_back(fault);
  fault.attr.config = PERF_COUNT_SW_PAGE_FAULTS_MAJ;
  selection.major_faults.push_back(fault);
  return selection;
}

class ThreadObserverTest : public ::testing::Test {
 protected:
  ThreadObserverTest() {
    record_.serial = 5;
    record_.tid = 4'000'000;
  }
  OpenOutcome Open() { return observer_.Open(selection_, &selection_.plans[0], {}, 8, 1); }
  FakeEvent& Loads() { return *perf_.Find(kType, kLoads); }
  FakeEvent& Stores() { return *perf_.Find(kType, kStores); }
  static std::vector<uint8_t> Sample(const FakeEvent& event, uint64_t time) {
    RecordBuilder record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_EXACT_IP);
    record.U64(event.id).U64(0x401000).U32(1).U32(4'000'000).U64(time).U64(0x5000).U32(0).U32(0);
    return record.U64(0x10668100842).Bytes();
  }
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
  capture::EventSelection selection_ = PebsSelection();
  ledger::ThreadRecord record_ = {};
  ObserverContext context_;
  aggregate::Accounting accounting_;
  base::Vector<PendingSample> batch_;
  ThreadObserver observer_{&record_, context_};
};

constexpr int kErrnos[] = {EPERM,  ENOENT,     ESRCH,  EINTR,   EIO,    ENXIO,
                           E2BIG,  ENOMEM,     EBUSY,  ENODEV,  EINVAL, EMFILE,
                           ENOSPC, EOPNOTSUPP, EACCES, ENODATA, ENOSYS};

TEST_F(ThreadObserverTest, EveryErrnoOfOpeningIsKeptAndPageFaultsGoOn) {
  for (const int error : kErrnos) {
    perf_.on_open = [=](const perf_event_attr& attr, const os::PerfTarget&) {
      return attr.type == kType ? -error : 0;
    };
    const OpenOutcome outcome = Open();
    EXPECT_EQ(outcome.access, nullptr);
    EXPECT_NE(outcome.minor, nullptr);
    EXPECT_EQ(outcome.error, error);
    EXPECT_EQ(outcome.failed_step, capture::EngineStep::kOpen);
    EXPECT_EQ(outcome.failed, &selection_.plans[0].access[1][0]);
    EXPECT_EQ(outcome.rungs, (Rungs{2, 1}));
  }
}

TEST_F(ThreadObserverTest, NextAttemptIsTakenAfterEveryErrno) {
  for (const int error : kErrnos) {
    perf_.on_open = [=](const perf_event_attr& attr, const os::PerfTarget&) {
      return attr.type == kType && attr.precise_ip == 3 ? -error : 0;
    };
    const OpenOutcome outcome = Open();
    EXPECT_EQ(outcome.access, &selection_.plans[0].access[0][1]);
    EXPECT_EQ(outcome.rungs, (Rungs{1, 0}));
    EXPECT_EQ(outcome.error, 0);
  }
}

TEST_F(ThreadObserverTest, EveryErrnoOfMappingIsKept) {
  for (const int error : kErrnos) {
    perf_.on_map = [=](const FakeEvent&, bool) { return -error; };
    const OpenOutcome outcome = Open();
    EXPECT_EQ(outcome.access, nullptr);
    EXPECT_EQ(outcome.minor, nullptr);
    EXPECT_EQ(outcome.error, error);
    EXPECT_EQ(outcome.failed_step, capture::EngineStep::kMap);
    EXPECT_TRUE(Read().empty());
  }
}

TEST_F(ThreadObserverTest, RingOverTheAllowanceIsHalved) {
  int refused = 0;
  perf_.on_map = [&](const FakeEvent&, bool) { return ++refused < 3 ? -EPERM : 0; };
  EXPECT_EQ(Open().ring_pages, 2u);
}

TEST_F(ThreadObserverTest, EveryIoctlThatFailsIsToldWithItsStep) {
  const struct {
    unsigned long request;
    capture::EngineStep step;
  } calls[] = {{PERF_EVENT_IOC_ID, capture::EngineStep::kControl},
               {PERF_EVENT_IOC_ENABLE, capture::EngineStep::kControl},
               {PERF_EVENT_IOC_SET_OUTPUT, capture::EngineStep::kRedirect}};
  for (const auto& call : calls) {
    for (const int error : kErrnos) {
      perf_.on_control = [&](const FakeEvent& event, unsigned long request) {
        return event.attr.type == kType && request == call.request ? -error : 0;
      };
      const OpenOutcome outcome = Open();
      EXPECT_EQ(outcome.access, nullptr) << call.request;
      EXPECT_EQ(outcome.error, error);
      EXPECT_EQ(outcome.failed_step, call.step);
    }
  }
}

TEST_F(ThreadObserverTest, PeriodThatCannotBeMovedLeavesSamplesWhatTheyWere) {
  Open();
  perf_.on_control = [](const FakeEvent&, unsigned long request) {
    return request == PERF_EVENT_IOC_PERIOD ? -EINVAL : 0;
  };
  observer_.SetPeriod(selection_.plans[0], 4, 0);
  perf_.Write(Loads(), Sample(Loads(), 1));
  ASSERT_EQ(Read().size(), 1u);
  EXPECT_EQ(batch_[0].scale, 1);
}

TEST_F(ThreadObserverTest, CountsThatCannotBeReadAreNotMissedForLosses) {
  Open();
  perf_.on_read = [](const FakeEvent&) { return -EPERM; };
  perf_.Write(Loads(), RecordBuilder(PERF_RECORD_LOST).U64(Loads().id).U64(9).Bytes());
  perf_.Write(Stores(), Sample(Stores(), 1));
  EXPECT_EQ(Read().size(), 1u);
  EXPECT_TRUE(observer_.accesses()[0].unreadable());
  EXPECT_EQ(Dropped(DropReason::kRingLost), 9u);
}

TEST_F(ThreadObserverTest, SamplesAreToldApartByTheirEvent) {
  Open();
  perf_.Write(Loads(), Sample(Loads(), 1));
  perf_.Write(Stores(), Sample(Stores(), 2));
  EXPECT_EQ(Read().size(), 2u);
  EXPECT_EQ(observer_.accesses()[0].counts().samples, 1u);
  EXPECT_EQ(observer_.accesses()[1].counts().samples, 1u);
}

TEST_F(ThreadObserverTest, RecordsWrapAtEveryPosition) {
  Open();
  const std::vector<uint8_t> sample = Sample(Loads(), 1);
  uint64_t read = 0;
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(perf_.Write(Loads(), sample));
    read += Read().size();
  }
  EXPECT_EQ(read, 3000u);
  EXPECT_EQ(Dropped(DropReason::kMalformedRecord), 0u);
}

TEST_F(ThreadObserverTest, LossesThatTheKernelCountsAreBookedOnce) {
  Open();
  Loads().lost = 7;
  Read();
  Read();
  Loads().lost = 10;
  Read();
  EXPECT_EQ(Dropped(DropReason::kRingLost), 10u);
  EXPECT_EQ(accounting_.samples_seen, 10u);
}

TEST_F(ThreadObserverTest, ThrottlingIsCountedForItsEvent) {
  Open();
  perf_.Write(Stores(), RecordBuilder(PERF_RECORD_THROTTLE).U64(1).U64(Stores().id).U64(0).Bytes());
  Read();
  EXPECT_EQ(observer_.accesses()[0].counts().throttled, 0u);
  EXPECT_EQ(observer_.accesses()[1].counts().throttled, 1u);
}

TEST_F(ThreadObserverTest, EveryCutOfARecordIsCountedAndTheNextIsRead) {
  Open();
  const std::vector<uint8_t> whole = Sample(Loads(), 1);
  uint64_t cuts = 0;
  for (size_t size = 16; size < whole.size(); size += 8, ++cuts) {
    std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    cut[6] = static_cast<uint8_t>(size);  // perf_event_header.size
    perf_.Write(Loads(), cut);
    perf_.Write(Loads(), whole);
    EXPECT_EQ(Read().size(), 1u);
  }
  EXPECT_EQ(Dropped(DropReason::kMalformedRecord), cuts);
}

TEST_F(ThreadObserverTest, SamplesOfAnEventThatTakesTurnsStandForThoseOfItsAbsence) {
  Open();
  Loads().enabled_nanos = Stores().enabled_nanos = 200'000'000;
  Loads().running_nanos = 80'000'000;
  Stores().running_nanos = 200'000'000;
  Read();
  double loads = 0;
  for (int i = 0; i < 10; ++i) {
    perf_.Write(Loads(), Sample(Loads(), 1));
    perf_.Write(Stores(), Sample(Stores(), 2));
    ASSERT_EQ(Read().size(), 2u);
    loads += batch_[0].scale;
    EXPECT_EQ(batch_[1].scale, 1);
  }
  EXPECT_EQ(loads, 25);
  Loads().lost = 4;
  Read();
  EXPECT_EQ(Dropped(DropReason::kRingLost), 10u);
}

TEST_F(ThreadObserverTest, TimeOnTheOtherKindOfCoreIsNoAbsence) {
  for (auto& attempt : selection_.plans[0].access[1]) attempt.attr.type = 10;  // of small cores
  Open();
  FakeEvent& small = *perf_.Find(10, kStores);
  Loads().enabled_nanos = small.enabled_nanos = 200'000'000;
  Loads().running_nanos = 150'000'000;
  small.running_nanos = 50'000'000;
  Read();
  EXPECT_EQ(observer_.accesses()[0].scale().ratio(), 1);
  EXPECT_EQ(observer_.accesses()[1].scale().ratio(), 1);
}

}  // namespace
}  // namespace memagent::runtime
