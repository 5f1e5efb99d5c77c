#include "viewer/c2c_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/support/test_data.h"

namespace memagent::viewer {
namespace {

using memagent::testing::ReadLines;
using memagent::testing::Split;
using memagent::testing::TestDataRoot;
using ::testing::UnorderedElementsAre;

constexpr uint64_t kSomewhere = 0x1000;

std::set<std::string> CountersOf(uint64_t data_src, uint64_t address = kSomewhere) {
  C2cView view;
  view.Add(data_src, address);
  std::set<std::string> names;
  for (size_t i = 0; i < kC2cCounterCount; ++i) {
    const auto counter = static_cast<C2cCounter>(i);
    EXPECT_LE(view[counter], 1u);
    if (view[counter] != 0) names.insert(std::string(C2cName(counter)));
  }
  return names;
}

TEST(C2cView, OrdinaryLoadsAndStores) {
  EXPECT_THAT(CountersOf(0x10268100142), UnorderedElementsAre("load", "ld_l1hit"));
  EXPECT_THAT(CountersOf(0x1026a100142), UnorderedElementsAre("locks", "load", "ld_l1hit"));
  EXPECT_THAT(CountersOf(0x10668800842), UnorderedElementsAre("load", "lcl_hitm"));
  EXPECT_THAT(CountersOf(0x1a29081042), UnorderedElementsAre("load", "lcl_dram", "ld_excl"));
  EXPECT_THAT(CountersOf(0x229080144), UnorderedElementsAre("store", "st_l1hit"));
  EXPECT_THAT(CountersOf(0x1e29080024), UnorderedElementsAre("store", "st_na"));
  EXPECT_THAT(CountersOf(0x1e05080021), UnorderedElementsAre("noparse"));
}

TEST(C2cView, SampleWithoutAddressIsCountedAsSuchAlone) {
  EXPECT_THAT(CountersOf(0x10268100142, 0), UnorderedElementsAre("load", "ld_noadrs"));
  EXPECT_THAT(CountersOf(0x229080144, 0), UnorderedElementsAre("store", "st_noadrs"));
}

// perf's, documented in the header.
TEST(C2cView, KnownMiscounts) {
  EXPECT_THAT(CountersOf(0x13668800042),
              UnorderedElementsAre("load", "rmt_hitm", "rmt_dram", "ld_excl"));
  EXPECT_THAT(CountersOf(0x17668000042), UnorderedElementsAre("load", "rmt_dram", "ld_excl"));
  EXPECT_THAT(CountersOf(0x13c68200042),
              UnorderedElementsAre("load", "rmt_hit", "rmt_dram", "ld_shared"));
  EXPECT_THAT(CountersOf(0x11c68200042), UnorderedElementsAre("load"));
  EXPECT_THAT(CountersOf(0x1229080002), UnorderedElementsAre("load"));
  EXPECT_THAT(CountersOf(0x83629088042), UnorderedElementsAre("load"));
  EXPECT_THAT(CountersOf(0x83629808042), UnorderedElementsAre("load", "rmt_hitm"));
  EXPECT_THAT(CountersOf(0xbe00080022), UnorderedElementsAre("load", "rmt_hit", "rmt_peer"));
  EXPECT_THAT(CountersOf(0x10668080082), UnorderedElementsAre("load", "ld_miss"));
}

TEST(C2cView, DerivedFigures) {
  C2cView view;
  view.Add(0x10668800842, kSomewhere);  // L3, modified
  view.Add(0x10668100842, kSomewhere);  // L3
  view.Add(0x13668800042, kSomewhere);  // remote cache, modified: also counted as memory
  EXPECT_EQ(view.LoadLlcHit(), 2u);
  EXPECT_EQ(view.TotalHitM(), 2u);
  EXPECT_EQ(view.LlcMisses(), 2u);
}

// The recorded rows list what perf prints, so that two derived figures stand among the counters.
TEST(C2cViewOracle, EveryRowOfPerfIsEqual) {
  MEMAGENT_NEEDS_TEST_DATA("");
  int rows = 0;
  for (const std::string& line :
       ReadLines(TestDataRoot(MEMAGENT_SOURCE_DIR) / "oracle_display_c2c.tsv")) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> row = Split(line, '\t');
    const std::vector<std::string> counters = Split(row.at(2), ',');
    const uint64_t data_src = std::stoull(row[0], nullptr, 0);
    C2cView view;
    view.Add(data_src, kSomewhere);
    std::set<std::string> ours = CountersOf(data_src);
    if (view.LoadLlcHit() != 0) ours.insert("ld_llchit");
    if (view.LlcMisses() != 0) ours.insert("llcmiss(derived)");
    EXPECT_EQ(ours, std::set<std::string>(counters.begin(), counters.end())) << row[0];
    ++rows;
  }
  EXPECT_EQ(rows, 603);
}

}  // namespace
}  // namespace memagent::viewer
