#include "agent/decode/spe_record.h"

#include <gtest/gtest.h>

#include <vector>

#include "agent/os/aux_ring.h"
#include "tests/support/spe_builder.h"

namespace memagent::decode {
namespace {

using memagent::testing::SpeBuilder;

struct Decoded {
  std::vector<SpeRecord> records;
  SpeCounts counts;
};

Decoded Decode(const std::vector<uint8_t>& bytes) {
  Decoded decoded;
  SpeRecordReader reader(bytes, 0);
  for (SpeRecord record; reader.Next(record);) decoded.records.push_back(record);
  decoded.counts = reader.counts();
  EXPECT_EQ(decoded.counts.records, decoded.records.size());
  return decoded;
}

// What the only record says.
SpeRecord One(const std::vector<uint8_t>& bytes) {
  const Decoded decoded = Decode(bytes);
  EXPECT_EQ(decoded.records.size(), 1u);
  return decoded.records.empty() ? SpeRecord() : decoded.records[0];
}

// Recorded on an Ampere Altra (ampere-lts-kernel issue 123).
TEST(SpeRecord, LoadOfANeoverseN1) {
  const SpeRecord record = One(
      {0x49, 0x00, 0x52, 0x1e, 0x03, 0x99, 0x51, 0x01, 0x98, 0xf5, 0x01, 0xb2, 0x50, 0x9e, 0xd7,
       0xf1, 0x3e, 0x40, 0xff, 0x00, 0x9a, 0x01, 0x00, 0xb3, 0x50, 0x9e, 0xd7, 0x71, 0x3f, 0x40,
       0x00, 0x80, 0x43, 0x0c, 0x00, 0x00, 0x71, 0xb3, 0x9a, 0xe9, 0xbd, 0x3e, 0x07, 0x00, 0x00});
  EXPECT_TRUE(record.is_memory_access());
  EXPECT_TRUE(record.is_load);
  EXPECT_FALSE(record.damaged);
  EXPECT_EQ(record.pc, 0u);
  EXPECT_EQ(record.virtual_address, 0xffff403ef1d79e50u);
  EXPECT_EQ(record.physical_address, 0x403f71d79e50u);
  EXPECT_EQ(record.total_latency, 501);
  EXPECT_EQ(record.issue_latency, 337);
  EXPECT_EQ(record.translation_latency, 1);
  EXPECT_EQ(record.data_source, 12u);
  EXPECT_FALSE(record.context_id.has_value());
  EXPECT_TRUE(record.Has(SpeEvent::kLastLevelMiss));
  EXPECT_FALSE(record.Has(SpeEvent::kTlbWalk));
  EXPECT_EQ(record.timestamp, 7966055570099u);
}

TEST(SpeRecord, WhatIsMissingIsNotZero) {
  const SpeRecord record = One(SpeBuilder().Store().Virtual(0x1000).End().bytes());
  EXPECT_TRUE(record.is_memory_access());
  EXPECT_FALSE(record.data_source.has_value());
  EXPECT_FALSE(record.total_latency.has_value());
  EXPECT_FALSE(record.context_id.has_value());
  EXPECT_EQ(record.timestamp, 0u);
}

TEST(SpeRecord, MemoryAccessNeedsOperationAndAddress) {
  EXPECT_FALSE(One(SpeBuilder().Load().End().bytes()).is_memory_access());
  EXPECT_FALSE(One(SpeBuilder().Virtual(0x1000).End().bytes()).is_memory_access());
  EXPECT_FALSE(One(SpeBuilder().Branch().Virtual(0x1000).End().bytes()).is_memory_access());
  EXPECT_TRUE(One(SpeBuilder().Virtual(0x1000).Load().End().bytes()).is_memory_access());
}

TEST(SpeRecord, NothingIsCarriedIntoTheNextRecord) {
  const Decoded decoded = Decode(
      SpeBuilder().Pc(0x400000).Load().Virtual(0x1000).Source(8).Timestamp(1).Timestamp(2).bytes());
  ASSERT_EQ(decoded.records.size(), 2u);
  EXPECT_EQ(decoded.records[1].pc, 0u);
  EXPECT_FALSE(decoded.records[1].is_load);
  EXPECT_FALSE(decoded.records[1].data_source.has_value());
}

TEST(SpeRecord, CodeAddressOfEachExceptionLevel) {
  constexpr uint64_t kKernel = 0x00ff'8000'1029'd3f4;
  const auto pc_at = [](uint64_t level) {
    return One(SpeBuilder().Pc(kKernel | level << 61).End().bytes());
  };
  EXPECT_EQ(pc_at(0).pc, kKernel);
  EXPECT_EQ(pc_at(1).pc, 0xffff'8000'1029'd3f4u);
  EXPECT_EQ(pc_at(2).pc, 0xffff'8000'1029'd3f4u);
  EXPECT_EQ(pc_at(3).pc, kKernel);
  for (uint8_t level = 0; level < 4; ++level) EXPECT_EQ(pc_at(level).exception_level, level);
}

TEST(SpeRecord, TagOfADataAddressIsTakenOff) {
  EXPECT_EQ(One(SpeBuilder().Load().Virtual(0x3400'ffff'1234'5678).End().bytes()).virtual_address,
            0x0000'ffff'1234'5678u);
  EXPECT_EQ(One(SpeBuilder().Load().Virtual(0x00ff'0000'7c22'6c00).End().bytes()).virtual_address,
            0xffff'0000'7c22'6c00u);
}

TEST(SpeRecord, ReservedIndicesAreSkipped) {
  const SpeRecord record = One(SpeBuilder()
                                   .Load()
                                   .Virtual(0x1000)
                                   .Byte(0x21)  // addresses 8 to 15
                                   .Virtual(0x2000)
                                   .Byte(0x20)  // a long header for what has a short one
                                   .TotalLatency(9)
                                   .Packet(0x9f, 1, 2)
                                   .End()
                                   .bytes());
  EXPECT_EQ(record.virtual_address, 0x1000u);
  EXPECT_EQ(record.total_latency, 9);
  EXPECT_FALSE(record.damaged);
}

TEST(SpeRecord, AtomicAccessKeepsItsFlags) {
  const SpeRecord record = One(SpeBuilder().Memory(0x16).Virtual(0x1000).End().bytes());
  EXPECT_TRUE(record.is_load);
  EXPECT_TRUE(record.operation.atomic);
  EXPECT_TRUE(record.operation.acquire_release);
}

TEST(SpeRecord, BadByteDamagesItsRecordOnly) {
  const Decoded decoded = Decode(SpeBuilder()
                                     .Load()
                                     .Virtual(0x1000)
                                     .End()
                                     .Pc(0x400000)
                                     .Byte(0x06)
                                     .Byte(0x12)
                                     .Store()
                                     .Virtual(0x2000)
                                     .End()
                                     .Load()
                                     .Virtual(0x3000)
                                     .End()
                                     .bytes());
  ASSERT_EQ(decoded.records.size(), 3u);
  EXPECT_FALSE(decoded.records[0].damaged);
  EXPECT_TRUE(decoded.records[1].damaged);
  EXPECT_EQ(decoded.records[1].pc, 0u) << "what stood before the bad byte is forgotten";
  EXPECT_EQ(decoded.records[1].virtual_address, 0x2000u);
  EXPECT_FALSE(decoded.records[2].damaged);
  EXPECT_EQ(decoded.counts.bad_bytes, 2u);
  EXPECT_EQ(decoded.counts.damaged, 1u);
}

TEST(SpeRecord, TwoRecordsWithoutAnEndBetweenAreDamaged) {
  const SpeRecord record =
      One(SpeBuilder().Pc(0x400000).Load().Virtual(0x1000).Pc(0x400008).Branch().End().bytes());
  EXPECT_TRUE(record.damaged);
}

TEST(SpeRecord, BytesThatEndWithinARecordAreCounted) {
  const std::vector<uint8_t> whole =
      SpeBuilder().Load().End().Pc(0x400000).Load().Virtual(0x1000).Timestamp(5).bytes();
  for (size_t size = 4; size < whole.size(); ++size) {
    const Decoded decoded = Decode({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)});
    EXPECT_EQ(decoded.records.size(), 1u) << size;
    EXPECT_EQ(decoded.counts.unfinished, 1u) << size;
  }
  EXPECT_EQ(Decode(SpeBuilder().Load().End().Pad(64).bytes()).counts.unfinished, 0u);
  EXPECT_EQ(Decode({}).counts.unfinished, 0u);
}

TEST(SpeRecord, RecordThatWrapsInTheAuxAreaIsWhole) {
  constexpr size_t kAreaBytes = 256;
  const std::vector<uint8_t> record =
      SpeBuilder().Pc(0x400000).Load().Virtual(0x1000).TotalLatency(9).Timestamp(5).Pad(64).bytes();
  for (uint64_t start = 0; start < kAreaBytes; ++start) {
    std::vector<uint8_t> area(kAreaBytes);
    perf_event_mmap_page control = {};
    control.aux_tail = start;
    for (size_t i = 0; i < 2 * record.size(); ++i) {
      area[(start + i) % kAreaBytes] = record[i % record.size()];
    }
    control.aux_head = start + 2 * record.size();
    os::AuxRing ring(&control, area.data(), area.size());
    base::Vector<uint8_t> scratch;
    int whole = 0;
    ring.Read({start, 2 * record.size(), 0}, scratch,
              [&](std::span<const uint8_t> bytes, uint64_t offset) {
                SpeRecordReader reader(bytes, offset);
                for (SpeRecord read; reader.Next(read);) {
                  whole += read.virtual_address == 0x1000 && read.timestamp == 5 && !read.damaged;
                }
              });
    EXPECT_EQ(whole, 2) << start;
  }
}

}  // namespace
}  // namespace memagent::decode
