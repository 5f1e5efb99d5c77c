#include "agent/decode/perf_record.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include "tests/support/record_builder.h"

namespace memagent::decode {
namespace {

using testing::RecordBuilder;

constexpr RecordLayout kClock = {PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                     PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER,
                                 kRegisterMask};
constexpr RecordLayout kFault = {PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                     PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU,
                                 0};

RecordBuilder ClockSample(uint64_t abi) {
  RecordBuilder builder(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
  builder.U64(77).U64(0x401000).U32(10).U32(11).U64(123456789).U32(3).U32(0).U64(abi);
  return builder;
}

std::vector<uint8_t> ClockSampleWithRegisters(uint64_t abi) {
  RecordBuilder builder = ClockSample(abi);
  for (uint64_t i = 0; i < kRegisterCount; ++i) builder.U64(1000 + i);
  return builder.Bytes();
}

TEST(PerfRecord, ClockSampleHasAllFieldsAndRegisters) {
  const auto bytes = ClockSampleWithRegisters(PERF_SAMPLE_REGS_ABI_64);
  EXPECT_EQ(bytes.size(), 216u);
  const auto record = ParseRecord(bytes, kClock);
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->kind, RecordKind::kSample);
  const RawSample& sample = record->sample;
  EXPECT_EQ(sample.event_id, 77u);
  EXPECT_EQ(record->event_id, 77u);
  EXPECT_EQ(sample.ip, 0x401000u);
  EXPECT_EQ(sample.tid, 11);
  EXPECT_EQ(sample.time, 123456789u);
  EXPECT_EQ(sample.cpu, 3u);
  EXPECT_EQ(sample.address, 0u);
  ASSERT_TRUE(sample.has_registers);
  EXPECT_EQ(sample.registers[static_cast<size_t>(Register::kAx)], 1000u);
  EXPECT_EQ(sample.registers[static_cast<size_t>(Register::kSs)], 1011u);
  EXPECT_EQ(sample.registers[static_cast<size_t>(Register::kR8)], 1012u);
  EXPECT_EQ(sample.registers[static_cast<size_t>(Register::kR15)], 1019u);
}

TEST(PerfRecord, RegistersAbsentWhenAbiIsNone) {
  const auto record = ParseRecord(ClockSample(PERF_SAMPLE_REGS_ABI_NONE).Bytes(), kClock);
  ASSERT_TRUE(record.has_value());
  EXPECT_FALSE(record->sample.has_registers);
}

TEST(PerfRecord, RegistersOf32BitCodeAreNotUsed) {
  const auto record = ParseRecord(ClockSampleWithRegisters(PERF_SAMPLE_REGS_ABI_32), kClock);
  ASSERT_TRUE(record.has_value());
  EXPECT_FALSE(record->sample.has_registers);
}

TEST(PerfRecord, SmallerMaskFillsItsRegistersOnly) {
  RecordLayout layout = kClock;
  layout.register_mask = 1u << 7 | 1u << 16;  // SP and R8
  RecordBuilder builder = ClockSample(PERF_SAMPLE_REGS_ABI_64);
  const auto record = ParseRecord(builder.U64(0x7ffe).U64(8).Bytes(), layout);
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->sample.registers[static_cast<size_t>(Register::kSp)], 0x7ffeu);
  EXPECT_EQ(record->sample.registers[static_cast<size_t>(Register::kR8)], 8u);
  EXPECT_EQ(record->sample.registers[static_cast<size_t>(Register::kAx)], 0u);
}

TEST(PerfRecord, FaultSampleHasTheAddressBeforeTheCpu) {
  RecordBuilder builder(PERF_RECORD_SAMPLE);
  builder.U64(78).U64(0x401000).U32(10).U32(11).U64(5).U64(0x7f0000000123).U32(1).U32(0);
  const auto record = ParseRecord(builder.Bytes(), kFault);
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->sample.address, 0x7f0000000123u);
  EXPECT_EQ(record->sample.cpu, 1u);
  EXPECT_FALSE(record->sample.has_registers);
}

TEST(PerfRecord, EveryCutOfASampleIsRefused) {
  const auto whole = ClockSampleWithRegisters(PERF_SAMPLE_REGS_ABI_64);
  for (size_t size = 0; size < whole.size(); ++size) {
    std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<long>(size));
    EXPECT_FALSE(ParseRecord(cut, kClock).has_value()) << size;
    if (size < sizeof(perf_event_header)) continue;
    const auto header_size = static_cast<uint16_t>(size);  // a header that tells the cut size
    memcpy(cut.data() + 6, &header_size, sizeof(header_size));
    EXPECT_FALSE(ParseRecord(cut, kClock).has_value()) << size;
  }
}

TEST(PerfRecord, SampleLongerThanItsLayoutIsRefused) {
  RecordBuilder builder(PERF_RECORD_SAMPLE);
  builder.U64(78).U64(0x401000).U32(10).U32(11).U64(5).U64(0x123).U32(1).U32(0).U64(9);
  EXPECT_FALSE(ParseRecord(builder.Bytes(), kFault).has_value());
}

TEST(PerfRecord, LayoutWithUnknownFieldsIsRefused) {
  RecordLayout layout = kClock;
  layout.sample_type |= uint64_t{1} << 25;
  EXPECT_FALSE(IsSupportedLayout(layout));
  EXPECT_FALSE(ParseRecord(ClockSampleWithRegisters(2), layout).has_value());
  EXPECT_FALSE(IsSupportedLayout({PERF_SAMPLE_READ, 0, uint64_t{1} << 5}));
  EXPECT_TRUE(IsSupportedLayout(kClock));
}

TEST(PerfRecord, RegistersOfAnotherArchitectureAreSkipped) {
  const auto bytes = ClockSample(PERF_SAMPLE_REGS_ABI_64).U64(1).U64(2).Bytes();
  RecordLayout layout = kClock;
  layout.register_mask = uint64_t{1} << 12 | uint64_t{1} << 30;
  const auto record = ParseRecord(bytes, layout);
  ASSERT_TRUE(record.has_value());
  EXPECT_FALSE(record->sample.has_registers);
}

TEST(PerfRecord, LostNamesItsEvent) {
  const auto record = ParseRecord(RecordBuilder(PERF_RECORD_LOST).U64(77).U64(745).Bytes(), kClock);
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->kind, RecordKind::kLost);
  EXPECT_EQ(record->event_id, 77u);
  EXPECT_EQ(record->count, 745u);
  EXPECT_FALSE(ParseRecord(RecordBuilder(PERF_RECORD_LOST).U64(77).Bytes(), kClock).has_value());
}

TEST(PerfRecord, TrailerAfterALostRecordIsAllowed) {
  const auto bytes = RecordBuilder(PERF_RECORD_LOST).U64(77).U64(1).U64(5).U64(6).Bytes();
  EXPECT_EQ(ParseRecord(bytes, kClock)->count, 1u);
}

TEST(PerfRecord, ThrottleExitAndLostSamplesAreTold) {
  const auto throttle =
      ParseRecord(RecordBuilder(PERF_RECORD_THROTTLE).U64(9).U64(77).U64(1).Bytes(), kClock);
  ASSERT_TRUE(throttle.has_value());
  EXPECT_EQ(throttle->kind, RecordKind::kThrottle);
  EXPECT_EQ(throttle->time, 9u);
  EXPECT_EQ(throttle->event_id, 77u);
  EXPECT_EQ(ParseRecord(RecordBuilder(PERF_RECORD_UNTHROTTLE).U64(9).U64(77).U64(1).Bytes(), kClock)
                ->kind,
            RecordKind::kUnthrottle);
  const auto exit = ParseRecord(
      RecordBuilder(PERF_RECORD_EXIT).U32(1).U32(2).U32(3).U32(4).U64(5).Bytes(), kClock);
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->kind, RecordKind::kExit);
  EXPECT_EQ(exit->tid, 3);
  EXPECT_EQ(ParseRecord(RecordBuilder(PERF_RECORD_LOST_SAMPLES).U64(4).Bytes(), kClock)->count, 4u);
}

TEST(PerfRecord, AuxNamesItsBytesAndFlags) {
  RecordBuilder builder(PERF_RECORD_AUX);
  builder.U64(0x1000).U64(0x40).U64(PERF_AUX_FLAG_TRUNCATED);
  const auto record = ParseRecord(builder.Bytes(), kClock);
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->kind, RecordKind::kAux);
  EXPECT_EQ(record->aux.offset, 0x1000u);
  EXPECT_EQ(record->aux.bytes, 0x40u);
  EXPECT_EQ(record->aux.flags, PERF_AUX_FLAG_TRUNCATED);
  EXPECT_FALSE(record->has_trailer);
  EXPECT_FALSE(ParseRecord(RecordBuilder(PERF_RECORD_AUX).U64(1).U64(2).Bytes(), kClock));
}

TEST(PerfRecord, TrailerOfAnAuxRecordTellsThreadTimeAndCpu) {
  RecordBuilder builder(PERF_RECORD_AUX);
  builder.U64(0).U64(8).U64(0).U32(10).U32(11).U64(123).U32(3).U32(0).U64(77);
  auto record = ParseRecord(builder.Bytes(), kClock);
  ASSERT_TRUE(record.has_value());
  EXPECT_TRUE(record->has_trailer);
  EXPECT_EQ(record->tid, 11);
  EXPECT_EQ(record->time, 123u);
  EXPECT_EQ(record->cpu, 3u);
  EXPECT_EQ(record->event_id, 77u);
  // Every field that a trailer can have, in its order.
  const RecordLayout all = {PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                            PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER |
                            PERF_SAMPLE_IP | PERF_SAMPLE_ADDR};
  RecordBuilder longer(PERF_RECORD_AUX);
  longer.U64(0).U64(8).U64(0).U32(10).U32(11).U64(123).U64(77).U64(78).U32(3).U32(0).U64(77);
  record = ParseRecord(longer.Bytes(), all);
  ASSERT_TRUE(record.has_value());
  EXPECT_TRUE(record->has_trailer);
  EXPECT_EQ(record->cpu, 3u);
  // Of another size it is none of ours.
  EXPECT_FALSE(ParseRecord(builder.U64(0).Bytes(), kClock)->has_trailer);
}

TEST(PerfRecord, UnknownTypeIsPassedOver) {
  const auto record = ParseRecord(RecordBuilder(9999).U64(1).Bytes(), kClock);
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->kind, RecordKind::kOther);
}

TEST(PeekSampleEventId, OnlySamplesHaveOne) {
  EXPECT_EQ(PeekSampleEventId(ClockSampleWithRegisters(2)), 77u);
  EXPECT_FALSE(PeekSampleEventId(RecordBuilder(PERF_RECORD_LOST).U64(77).U64(1).Bytes()));
  EXPECT_FALSE(PeekSampleEventId(RecordBuilder(PERF_RECORD_SAMPLE).Bytes()));
  EXPECT_FALSE(PeekSampleEventId({}));
}

// Every field that the kernel knows, in the order of perf_output_sample (facts: perf_abi 1.2).
constexpr RecordLayout kEverything = {
    (uint64_t{1} << 25) - 1 - PERF_SAMPLE_WEIGHT, 0x3,
    PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST | PERF_FORMAT_TOTAL_TIME_ENABLED,
    PERF_SAMPLE_BRANCH_HW_INDEX, 0x7};

std::vector<uint8_t> SampleOfEverything() {
  RecordBuilder builder(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
  builder.U64(77).U64(0x401000).U32(10).U32(11).U64(500).U64(0x7f0000000123).U64(77).U64(78);
  builder.U32(3).U32(0).U64(4096);
  builder.U64(2).U64(1000).U64(1).U64(2).U64(3).U64(4).U64(5).U64(6);  // READ: a group of two
  builder.U64(3).U64(0xa).U64(0xb).U64(0xc);                           // CALLCHAIN
  builder.U32(12).U32(1).U32(2).U32(3);                                // RAW
  builder.U64(1).U64(9).U64(1).U64(2).U64(3);                          // BRANCH_STACK
  builder.U64(PERF_SAMPLE_REGS_ABI_64).U64(100).U64(101);              // REGS_USER
  builder.U64(8).U64(0x5555).U64(8);                                   // STACK_USER
  builder.U64(uint64_t{7} << 48 | uint64_t{1271} << 32 | 476);         // WEIGHT_STRUCT
  builder.U64(0x1a29081042).U64(0);                                    // DATA_SRC, TRANSACTION
  builder.U64(PERF_SAMPLE_REGS_ABI_64).U64(1).U64(2).U64(3);           // REGS_INTR
  builder.U64(0x1234000).U64(6).U64(2 << 20).U64(4096).U64(8).U64(1);  // PHYS_ADDR ... AUX
  return builder.Bytes();
}

TEST(PerfRecord, SampleWithEveryFieldIsRead) {
  const auto record = ParseRecord(SampleOfEverything(), kEverything);
  ASSERT_TRUE(record.has_value());
  const RawSample& sample = record->sample;
  EXPECT_TRUE(sample.exact_ip);
  EXPECT_EQ(sample.pid, 10);
  EXPECT_EQ(sample.address, 0x7f0000000123u);
  EXPECT_EQ(sample.cpu, 3u);
  EXPECT_EQ(sample.period, 4096u);
  EXPECT_EQ(sample.registers[static_cast<size_t>(Register::kBx)], 101u);
  EXPECT_EQ(sample.weight, 476u);
  EXPECT_EQ(sample.weight2, 1271u);
  EXPECT_EQ(sample.weight3, 7u);
  EXPECT_TRUE(sample.has_data_src);
  EXPECT_EQ(sample.data_src, 0x1a29081042u);
  EXPECT_EQ(sample.physical_address, 0x1234000u);
  EXPECT_EQ(sample.page_bytes, uint64_t{2} << 20);
}

TEST(PerfRecord, RawBytesAreThoseOfTheRecord) {
  const auto bytes = SampleOfEverything();
  const auto record = ParseRecord(bytes, kEverything);
  ASSERT_TRUE(record.has_value());
  ASSERT_EQ(record->sample.raw.size(), 12u);
  EXPECT_EQ(record->sample.raw[4], 2);
}

TEST(PerfRecord, EveryTruncationOfEveryFieldIsRefused) {
  const auto bytes = SampleOfEverything();
  for (size_t size = sizeof(perf_event_header); size < bytes.size(); ++size) {
    std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<long>(size));
    const auto stated = static_cast<uint16_t>(size);
    memcpy(cut.data() + offsetof(perf_event_header, size), &stated, sizeof(stated));
    EXPECT_FALSE(ParseRecord(cut, kEverything).has_value()) << size;
  }
}

TEST(PerfRecord, CountsBeyondTheRecordAreRefused) {
  for (uint64_t count : {uint64_t{3}, uint64_t{1} << 61, ~uint64_t{0}}) {
    const auto bytes = RecordBuilder(PERF_RECORD_SAMPLE).U64(count).U64(1).U64(2).Bytes();
    for (uint64_t type :
         {PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_AUX, PERF_SAMPLE_READ}) {
      const RecordLayout layout = {type, 0, PERF_FORMAT_GROUP};
      EXPECT_FALSE(ParseRecord(bytes, layout).has_value()) << count << " " << type;
    }
  }
}

TEST(PerfRecord, PlainWeightIsSixtyFourBits) {
  const auto bytes = RecordBuilder(PERF_RECORD_SAMPLE).U64(uint64_t{5} << 32).Bytes();
  const auto record = ParseRecord(bytes, {PERF_SAMPLE_WEIGHT, 0});
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->sample.weight, uint64_t{5} << 32);
  EXPECT_EQ(record->sample.weight2, 0);
}

}  // namespace
}  // namespace memagent::decode
