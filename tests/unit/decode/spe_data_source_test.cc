#include "agent/decode/spe_data_source.h"

#include <gtest/gtest.h>

#include "tests/support/data_source_printer.h"

namespace memagent::decode {
namespace {

constexpr SpeCpu kNeoverse = {.encoding = SpeEncoding::kCommon};
constexpr SpeCpu kAmpereOne = {.encoding = SpeEncoding::kAmpereOne};
constexpr SpeCpu kHip12 = {.encoding = SpeEncoding::kHisilicon};
constexpr SpeCpu kNobody = {};

SpeRecord Load(std::optional<uint64_t> source, uint64_t events = 0) {
  SpeRecord record;
  record.is_load = true;
  record.virtual_address = 0x1000;
  record.data_source = source;
  record.events = events;
  return record;
}
SpeRecord Store(std::optional<uint64_t> source, uint64_t events = 0) {
  SpeRecord record = Load(source, events);
  record.is_load = false;
  record.is_store = true;
  return record;
}

constexpr uint64_t Bits(std::initializer_list<SpeEvent> events) {
  uint64_t bits = 0;
  for (const SpeEvent event : events) bits |= uint64_t{1} << static_cast<int>(event);
  return bits;
}
constexpr uint64_t kL1Hit = Bits({SpeEvent::kL1Access});
constexpr uint64_t kL1Miss = Bits({SpeEvent::kL1Access, SpeEvent::kL1Refill});

DataSource Source(MemoryOp op, MemoryLevel level, Locality locality, Snoop snoop) {
  DataSource source;
  source.op = op;
  source.level = level;
  source.locality = locality;
  source.snoop = snoop;
  return source;
}

TEST(SpeEncoding, IsOfTheModelWhateverTheRevision) {
  EXPECT_EQ(SpeEncodingOf(0x413fd0c1), SpeEncoding::kCommon);  // Ampere Altra: Neoverse N1
  EXPECT_EQ(SpeEncodingOf(0x410fd4f0), SpeEncoding::kCommon);  // Grace: Neoverse V2
  EXPECT_EQ(SpeEncodingOf(0x4e0f0100), SpeEncoding::kCommon);  // Olympus
  EXPECT_EQ(SpeEncodingOf(0xc00fac40), SpeEncoding::kAmpereOne);
  EXPECT_EQ(SpeEncodingOf(0x480fd060), SpeEncoding::kHisilicon);
  EXPECT_EQ(SpeEncodingOf(0x410fd050), SpeEncoding::kUnknown);  // Cortex-A55
  EXPECT_EQ(SpeEncodingOf(0xc00fac30), SpeEncoding::kUnknown);  // Ampere1
  EXPECT_EQ(SpeEncodingOf(0x4e0fd0c0), SpeEncoding::kUnknown) << "another maker's part d0c";
  EXPECT_EQ(SpeEncodingOf(0), SpeEncoding::kUnknown);
}

TEST(SpeDataSource, CommonCode) {
  using enum MemoryLevel;
  const struct {
    uint64_t source;
    MemoryLevel level;
    Locality locality;
    Snoop snoop;
  } rows[] = {
      {0x0, kL1, Locality::kSameCore, Snoop::kNone},
      {0x8, kL2, Locality::kSameCore, Snoop::kNone},
      {0x9, kL2, Locality::kSameNode, Snoop::kPeer},
      {0xa, kL3, Locality::kSameNode, Snoop::kPeer},
      {0xb, kL3, Locality::kSameNode, Snoop::kHit},
      {0xc, kL3, Locality::kSameNode, Snoop::kPeer},
      {0xd, kUnknown, Locality::kOtherNode, Snoop::kPeer},
      {0xe, kDram, Locality::kUnknown, Snoop::kNone},
      {0x1, kUnknown, Locality::kUnknown, Snoop::kUnknown},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(SpeDataSource(Load(row.source), kNeoverse),
              Source(MemoryOp::kLoad, row.level, row.locality, row.snoop))
        << row.source;
  }
}

TEST(SpeDataSource, SameSourceMeansOtherThingsOnOtherCores) {
  EXPECT_EQ(SpeDataSource(Load(8), kAmpereOne).level, MemoryLevel::kL1);
  EXPECT_EQ(SpeDataSource(Load(8), kHip12).level, MemoryLevel::kDram);
  EXPECT_EQ(SpeDataSource(Load(8), kHip12).locality, Locality::kSameNode) << "this one knows";
  EXPECT_EQ(SpeDataSource(Load(9), kHip12),
            Source(MemoryOp::kLoad, MemoryLevel::kDram, Locality::kOtherNode, Snoop::kUnknown));
  EXPECT_EQ(SpeDataSource(Load(7), kHip12).snoop, Snoop::kModified);
  EXPECT_TRUE(SpeDataSource(Load(7), kHip12).remote());
  EXPECT_EQ(SpeDataSource(Load(7), kAmpereOne).level, MemoryLevel::kDram);
  EXPECT_EQ(SpeDataSource(Load(8), kNobody).level, MemoryLevel::kUnknown);
}

TEST(SpeDataSource, AbsentSourceIsNotL1) {
  EXPECT_EQ(SpeDataSource(Load(std::nullopt), kNeoverse).level, MemoryLevel::kUnknown);
  EXPECT_EQ(SpeDataSource(Load(std::nullopt, kL1Miss), kNeoverse).level, MemoryLevel::kBeyondL1);
  // perf says L1 hit of both.
  EXPECT_EQ(SpePerfDataSource(Load(std::nullopt), kNeoverse), 0x200100142u);
  EXPECT_EQ(SpePerfDataSource(Load(std::nullopt, kL1Miss), kNeoverse), 0x200100142u);
}

TEST(SpeDataSource, EventsTellOfStoresOnEveryCore) {
  EXPECT_EQ(SpeDataSource(Store(std::nullopt, kL1Hit), kNeoverse).level, MemoryLevel::kL1);
  EXPECT_EQ(SpeDataSource(Store(std::nullopt, kL1Hit), kNobody).level, MemoryLevel::kL1);
  // perf looks at them only where it doesn't know the code.
  EXPECT_EQ(SpePerfDataSource(Store(std::nullopt, kL1Hit), kNeoverse), 0x1e00080024u);
  EXPECT_EQ(SpePerfDataSource(Store(std::nullopt, kL1Hit), kNobody), 0x200080144u);
  // ... and on AmpereOne, where it doesn't know the source.
  EXPECT_EQ(SpePerfDataSource(Store(0x9, kL1Hit), kAmpereOne), 0x1e00080024u);
  EXPECT_EQ(SpePerfDataSource(Store(0xa, kL1Hit), kAmpereOne), 0x200080144u);
}

TEST(SpeDataSource, MemoryIsLocalOnlyWhereThatIsKnown) {
  EXPECT_EQ(SpeDataSource(Load(0xe), kNeoverse).locality, Locality::kUnknown);
  EXPECT_EQ(SpeDataSource(Load(0x7), kAmpereOne).locality, Locality::kUnknown);
  const uint64_t remote = Bits({SpeEvent::kRemoteAccess});
  EXPECT_EQ(SpeDataSource(Load(0xe, remote), kNeoverse).locality, Locality::kOtherNode);
  EXPECT_EQ(SpePerfDataSource(Load(0xe), kNeoverse), 0x1a00101042u) << "perf: local";
}

TEST(SpeDataSource, EventsTellTheNearestHitOfALoad) {
  using enum SpeEvent;
  const auto level = [](uint64_t events) { return SpeDataSource(Load({}, events), kNobody).level; };
  EXPECT_EQ(level(kL1Hit), MemoryLevel::kL1);
  EXPECT_EQ(level(kL1Miss | Bits({kRecentlyFetched})), MemoryLevel::kLineFillBuffer);
  EXPECT_EQ(level(kL1Miss | Bits({kL2Access})), MemoryLevel::kL2);
  EXPECT_EQ(level(kL1Miss | Bits({kL2Access, kL2Miss})), MemoryLevel::kBeyondL2);
  EXPECT_EQ(level(kL1Miss | Bits({kL2Access, kL2Miss, kLastLevelAccess})), MemoryLevel::kL3);
  EXPECT_EQ(level(kL1Miss | Bits({kLastLevelAccess, kLastLevelMiss})), MemoryLevel::kBeyondL3);
  EXPECT_EQ(level(0), MemoryLevel::kUnknown);
}

TEST(SpeDataSource, EventsTellSnoopAndTranslation) {
  using enum SpeEvent;
  const auto of = [](uint64_t events, bool tells_snoops = false) {
    return SpeDataSource(Load({}, events), {.tells_snoops = tells_snoops});
  };
  EXPECT_EQ(of(Bits({kSnooped})).snoop, Snoop::kHit);
  EXPECT_EQ(of(Bits({kSnooped, kModified})).snoop, Snoop::kModified);
  EXPECT_EQ(of(0).snoop, Snoop::kUnknown);
  EXPECT_EQ(of(0, true).snoop, Snoop::kNone);
  EXPECT_EQ(of(Bits({kTlbAccess})).tlb, TlbLevel::kL1OrL2);
  EXPECT_EQ(of(Bits({kTlbAccess, kTlbWalk})).tlb, TlbLevel::kWalk);
  EXPECT_EQ(of(0).tlb, TlbLevel::kUnknown);
}

TEST(SpeDataSource, AtomicsAndExclusivesAreLocked) {
  SpeRecord record = Load(0);
  EXPECT_FALSE(SpeDataSource(record, kNeoverse).locked);
  record.operation.exclusive = true;
  EXPECT_TRUE(SpeDataSource(record, kNeoverse).locked);
  record.operation = {};
  record.operation.atomic = true;
  EXPECT_TRUE(SpeDataSource(record, kNeoverse).locked);
}

TEST(SpeDataSource, OtherInstructionsHaveNone) {
  SpeRecord record = Load(0);
  record.virtual_address = 0;
  EXPECT_EQ(SpeDataSource(record, kNeoverse), DataSource());
  EXPECT_EQ(SpePerfDataSource(record, kNeoverse), 0u);
}

}  // namespace
}  // namespace memagent::decode
