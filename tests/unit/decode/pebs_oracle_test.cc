// Intel's PEBS: the words that the kernel makes of each source (an encoder written from its tables,
// equal to the kernel's own in every recorded row), and what we make of those words (expectations
// written from the hardware's tables, not from the words).
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "agent/decode/data_source.h"
#include "tests/support/data_source_printer.h"
#include "tests/support/pebs_data_source.h"
#include "tests/support/test_data.h"

namespace memagent::decode {
namespace {

using memagent::testing::PebsAddressOnly;
using memagent::testing::PebsDataSource;
using memagent::testing::PebsMissDataSource;
using memagent::testing::PebsMissOfL2;
using memagent::testing::PebsPreciseStore;
using memagent::testing::PebsStatus;
using memagent::testing::PebsTable;
using memagent::testing::ReadLines;
using memagent::testing::Split;
using memagent::testing::TestDataRoot;

using enum MemoryLevel;
using Locality::kOtherNode, Locality::kSameCore, Locality::kSameNode;
constexpr Locality kNowhere = Locality::kUnknown;
constexpr MemoryLevel kNoLevel = MemoryLevel::kUnknown;
constexpr Snoop kNoAnswer = Snoop::kUnknown;

struct Meaning {
  MemoryLevel level = kNoLevel;
  Locality locality = kNowhere;
  Snoop snoop = kNoAnswer;
};
using Meanings = std::map<unsigned, Meaning>;

constexpr Meaning kOwnL1 = {kL1, kSameCore, Snoop::kNone};
constexpr Meaning kOwnBuffer = {kLineFillBuffer, kSameCore, Snoop::kNone};
constexpr Meaning kOwnL2 = {kL2, kSameCore, Snoop::kNone};
constexpr Meaning kSharedL3 = {kL3, kSameNode, Snoop::kNone};

// perf_abi 3.4, first column: Sandy Bridge to Broadwell.
const Meanings kBase = {
    {0x0, {kBeyondL3}},
    {0x1, kOwnL1},
    {0x2, kOwnBuffer},
    {0x3, kOwnL2},
    {0x4, kSharedL3},
    {0x5, {kL3, kSameNode, Snoop::kMiss}},
    {0x6, {kL3, kSameNode, Snoop::kHit}},
    {0x7, {kL3, kSameNode, Snoop::kModified}},
    {0x8, {kL3, kOtherNode, Snoop::kHit}},
    {0x9, {kL3, kOtherNode, Snoop::kModified}},
    {0xa, {kDram, kSameNode, Snoop::kHit}},
    {0xb, {kDram, kOtherNode, Snoop::kHit}},
    {0xc, {kDram, kSameNode, Snoop::kMiss}},
    {0xd, {kDram, kOtherNode, Snoop::kMiss}},
    {0xe, {kIo, kNowhere, Snoop::kNone}},
    {0xf, {kUncached, kNowhere, Snoop::kNone}},
};

Meanings Changed(const Meanings& changes) {
  Meanings meanings = kBase;
  for (const auto& [source, meaning] : changes) meanings[source] = meaning;
  return meanings;
}

Meanings Skylake(MemoryLevel far_level) {
  return Changed({{0x8, {far_level, kSameNode, Snoop::kHit}},
                  {0x9, {far_level, kOtherNode, Snoop::kHit}},
                  {0xb, {kDram, kOtherNode, Snoop::kNone}},
                  {0xc, {kPeerCache, kOtherNode, Snoop::kForward}},
                  {0xd, {kPeerCache, kOtherNode, Snoop::kModified}}});
}

const std::map<PebsTable, Meanings> kMeanings = {
    {PebsTable::kNehalem,
     Changed({{0x5, {kL3, kSameNode, Snoop::kHit}}, {0x6, {kL3, kSameNode, Snoop::kModified}}})},
    {PebsTable::kSandyBridge, kBase},
    {PebsTable::kSkylakeClient, Skylake(kL4)},
    {PebsTable::kSkylakeServer, Skylake(kPmem)},
    {PebsTable::kGracemont, Changed({{0x5, {kL3, kSameNode, Snoop::kHit}},
                                     {0x6, {kL3, kSameNode, Snoop::kModified}},
                                     {0x8, {kL3, kSameNode, Snoop::kForward}}})},
    {PebsTable::kCrestmont, Changed({{0x7, {kL3, kSameNode, Snoop::kForward}},
                                     {0x8, {kL3, kSameNode, Snoop::kModified}},
                                     {0xa, {kDram, kSameNode, Snoop::kNone}},
                                     {0xb, {kDram, kOtherNode, Snoop::kNone}},
                                     {0xc, {kDram, kOtherNode, Snoop::kForward}},
                                     {0xd, {kDram, kOtherNode, Snoop::kModified}}})},
    {PebsTable::kLionCove,
     {{0x0, {kBeyondL3}},
      {0x1, kOwnL1},
      {0x2, kOwnL1},
      {0x3, kOwnBuffer},
      {0x5, kOwnL2},
      {0x6, kOwnBuffer},  // L2's
      {0x8, kSharedL3},
      {0xc, {kL3, kSameNode, Snoop::kForward}},
      {0xd, {kL3, kSameNode, Snoop::kModified}},
      {0xf, {kBeyondL3, kNowhere, Snoop::kModified}},
      {0x10, {kMemorySideCache, kSameNode, Snoop::kNone}},
      {0x11, {kDram, kSameNode, Snoop::kNone}}}},
    {PebsTable::kPantherCove,
     {{0x1, kOwnL1},  // L0
      {0x2, kOwnL1},
      {0x3, kOwnBuffer},
      {0x4, kOwnL2},
      {0x7, {kL2, kSameNode, Snoop::kHit}},
      {0x8, {kL2, kSameNode, Snoop::kModified}},
      {0x9, kOwnL2},
      {0xa, kOwnL2},
      {0xf, {kUncached, kNowhere, Snoop::kNone}}}},
    {PebsTable::kArcticWolf,
     {{0x1, kOwnL1},
      {0x2, kOwnBuffer},
      {0x3, kOwnL2},
      {0x4, {kL2, kSameNode, Snoop::kHit}},
      {0x5, {kL2, kSameNode, Snoop::kModified}},
      {0x6, {kUncached, kNowhere, Snoop::kNone}}}},
};

DataSource Source(MemoryOp op, const Meaning& meaning) {
  DataSource source;
  source.op = op;
  source.level = meaning.level;
  source.locality = meaning.locality;
  source.snoop = meaning.snoop;
  return source;
}

// A source that a part does not have means nothing.
Meaning MeaningOf(PebsTable table, unsigned source) {
  const Meanings& meanings = kMeanings.at(table);
  const auto found = meanings.find(source);
  return found == meanings.end() ? Meaning{} : found->second;
}

DataSource Expected(PebsTable table, const PebsStatus& status, bool store) {
  DataSource source =
      Source(store ? MemoryOp::kStore : MemoryOp::kLoad, MeaningOf(table, status.source));
  if (table == PebsTable::kNehalem) return source;
  source.tlb = status.tlb_miss ? TlbLevel::kWalk : TlbLevel::kL1OrL2;
  source.locked = status.locked;
  source.blocked_data = status.blocked_data;
  source.blocked_address = status.blocked_address;
  return source;
}

Snoop ExpectedSnoop(const PebsMissOfL2& miss) {
  if (miss.source < 2 || miss.source >= 7) return Snoop::kNone;
  if (miss.source != 2 && miss.source != 5) return Snoop::kHit;
  if (miss.modified) return Snoop::kModified;
  if (miss.source == 5) return miss.snooped ? Snoop::kForward : Snoop::kHit;
  if (miss.snooped) return miss.promoted ? Snoop::kNone : Snoop::kMiss;
  return miss.promoted ? Snoop::kHit : kNoAnswer;
}

DataSource Expected(const PebsMissOfL2& miss) {
  Meaning meaning;
  meaning.snoop = ExpectedSnoop(miss);
  if (miss.source >= 2) meaning.level = miss.source < 7 ? kL3 : kDram;
  if (miss.source == 7) meaning.level = kIo;
  const bool near = meaning.level == kL3 || meaning.level == kDram;
  meaning.locality = miss.remote ? kOtherNode : (near ? kSameNode : kNowhere);
  DataSource source = Source(MemoryOp::kLoad, meaning);
  source.tlb = TlbLevel::kL1OrL2;
  source.region = static_cast<uint8_t>(miss.source < 2 ? 0 : miss.source);
  return source;
}

TEST(PebsDataSource, EverySourceOfEveryPartMeansWhatItsTableSays) {
  for (const auto& [table, unused] : kMeanings) {
    for (PebsStatus status; status.source < 0x20; ++status.source) {
      SCOPED_TRACE("table " + std::to_string(int(table)) + " source " +
                   std::to_string(status.source));
      EXPECT_EQ(DecodeDataSource(PebsDataSource(table, status)), Expected(table, status, false));
    }
  }
}

TEST(PebsDataSource, EveryMissOfL2MeansWhatItsBitsSay) {
  for (unsigned bits = 0; bits < 0x100; ++bits) {
    SCOPED_TRACE(bits);
    const PebsMissOfL2 miss = {bits & 0xf, (bits & 0x10) != 0, (bits & 0x20) != 0,
                               (bits & 0x40) != 0, (bits & 0x80) != 0};
    EXPECT_EQ(DecodeDataSource(PebsMissDataSource(miss)), Expected(miss));
  }
}

TEST(PebsDataSource, StatusBits) {
  const PebsStatus status = {1, true, true, true, true};
  EXPECT_EQ(DecodeDataSource(PebsDataSource(PebsTable::kSkylakeServer, status, true)),
            Expected(PebsTable::kSkylakeServer, status, true));
}

TEST(PebsDataSource, StoresOfOldPartsTellL1Only) {
  DataSource hit = Source(MemoryOp::kStore, {kL1, kSameCore});
  EXPECT_EQ(DecodeDataSource(PebsAddressOnly(true, true)), hit);
  DataSource miss = Source(MemoryOp::kStore, {kBeyondL1});
  EXPECT_EQ(DecodeDataSource(PebsAddressOnly(true, false)), miss);
  EXPECT_EQ(DecodeDataSource(PebsAddressOnly(false, std::nullopt)), Source(MemoryOp::kLoad, {}));
  hit.tlb = TlbLevel::kL2;
  EXPECT_EQ(DecodeDataSource(PebsPreciseStore(true, false, false)), hit);
  miss.tlb = TlbLevel::kWalk;
  miss.locked = true;
  EXPECT_EQ(DecodeDataSource(PebsPreciseStore(false, true, true)), miss);
}

// Words of the kernel's own tables, so that a checkout without the recorded rows tests the encoder.
TEST(PebsDataSource, EncoderGivesTheKernelsWords) {
  const auto word = [](PebsTable table, unsigned source) {
    return PebsDataSource(table, PebsStatus{source, false, false, false, false});
  };
  EXPECT_EQ(word(PebsTable::kNehalem, 0xb), 0x2605202042u);
  EXPECT_EQ(word(PebsTable::kSandyBridge, 0x0), 0x10668080082u);
  EXPECT_EQ(word(PebsTable::kSandyBridge, 0xb), 0x12668202042u);
  EXPECT_EQ(word(PebsTable::kSkylakeServer, 0x9), 0x13c68200042u);
  EXPECT_EQ(word(PebsTable::kSkylakeServer, 0xb), 0x13a68100042u);
  EXPECT_EQ(word(PebsTable::kSkylakeServer, 0xd), 0x13668800042u);
  EXPECT_EQ(word(PebsTable::kCrestmont, 0xc), 0x17a68000042u);
  EXPECT_EQ(word(PebsTable::kLionCove, 0xf), 0x10668800882u);
  EXPECT_EQ(PebsMissDataSource({7, true, false, false, false}), 0x1c13a68100042u);
}

using Row = std::vector<std::string>;  // part, event, raw source, word

const std::map<std::string, PebsTable> kTables = {
    {"nehalem/westmere", PebsTable::kNehalem},
    {"snb/ivb/hsw/bdw", PebsTable::kSandyBridge},
    {"skl/kbl client", PebsTable::kSkylakeClient},
    {"skx/clx/icx(pmem)", PebsTable::kSkylakeServer},
    {"spr/emr/gnr(pmem)", PebsTable::kSkylakeServer},
    {"gracemont", PebsTable::kGracemont},
    {"crestmont/skymont/darkmont", PebsTable::kCrestmont},
    {"lion cove", PebsTable::kLionCove},
    {"panther cove (L2 hit)", PebsTable::kPantherCove},
    {"arctic wolf (L2 hit)", PebsTable::kArcticWolf},
    {"panther cove (L2 miss, OMR)", PebsTable::kMissOfL2},
};

bool Has(unsigned raw, unsigned bit) { return (raw & bit) != 0; }

void ExpectSourceRow(PebsTable table, const Row& row, unsigned raw, uint64_t word) {
  const bool store = row[1].starts_with("store");
  PebsStatus status;
  // Lion Cove's rows hold the source alone, which has five bits there.
  status.source = table == PebsTable::kLionCove ? raw : raw & 0xf;
  if (table != PebsTable::kLionCove) {
    status.tlb_miss = Has(raw, 0x10);
    status.locked = Has(raw, 0x20);
    status.blocked_data = Has(raw, 0x40);
    status.blocked_address = Has(raw, 0x80);
  }
  EXPECT_EQ(PebsDataSource(table, status, store), word);
  EXPECT_EQ(DecodeDataSource(word), Expected(table, status, store));
}

void ExpectRow(const Row& row) {
  const auto raw = static_cast<unsigned>(std::stoul(row[2], nullptr, 0));
  const uint64_t word = std::stoull(row[3], nullptr, 0);
  if (row[1].starts_with("store(precise_store")) {
    EXPECT_EQ(PebsPreciseStore(Has(raw, 1), Has(raw, 0x10), Has(raw, 0x20)), word);
  } else if (row[1] == "store(datala)") {
    EXPECT_EQ(PebsAddressOnly(true, Has(raw, 1)), word);
  } else if (row[1] == "load(datala, non ldlat)") {
    EXPECT_EQ(PebsAddressOnly(false, std::nullopt), word);
  } else if (kTables.at(row[0]) == PebsTable::kMissOfL2) {
    const PebsMissOfL2 miss = {raw & 0xf, Has(raw, 0x10), Has(raw, 0x20), Has(raw, 0x40),
                               Has(raw, 0x80)};
    EXPECT_EQ(PebsMissDataSource(miss), word);
    EXPECT_EQ(DecodeDataSource(word), Expected(miss));
  } else {
    ExpectSourceRow(kTables.at(row[0]), row, raw, word);
  }
}

TEST(PebsOracle, EveryRowIsEqualAndMeansWhatItsTableSays) {
  MEMAGENT_NEEDS_TEST_DATA("pebs");
  int rows = 0;
  for (const std::string& line :
       ReadLines(TestDataRoot(MEMAGENT_SOURCE_DIR) / "pebs/oracle_pebs_data_src.tsv")) {
    if (line.empty() || line[0] == '#') continue;
    SCOPED_TRACE(line);
    const Row row = Split(line, '\t');
    ASSERT_EQ(row.size(), 4u);
    ExpectRow(row);
    ++rows;
  }
  EXPECT_EQ(rows, 265);
}

}  // namespace
}  // namespace memagent::decode
