#include "viewer/data_source_words.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/test_data.h"

namespace memagent::viewer {
namespace {

using memagent::testing::ReadLines;
using memagent::testing::Split;
using memagent::testing::TestDataRoot;

TEST(DataSourceWords, WordsOfPerf) {
  EXPECT_EQ(PerfScriptText(0x10268100142),
            "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A");
  EXPECT_EQ(PerfScriptText(0x103a29082042),
            "|OP LOAD|LVL Remote node, same socket RAM hit|SNP N/A|TLB L1 hit|LCK N/A|BLK  N/A");
  EXPECT_EQ(PerfScriptText(0x13668800042),
            "|OP LOAD|LVL Remote Any cache hit|SNP HitM|TLB L1 or L2 hit|LCK No|BLK  N/A");
  EXPECT_EQ(PerfScriptText(0x1e05080021), "|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A");
  EXPECT_EQ(PerfScriptText(0x29088842),
            "|OP LOAD|LVL L3 or Remote Cache (1 hop) hit|SNP N/A|TLB L1 hit|LCK N/A|BLK  N/A");
}

TEST(DataSourceWords, OddWordsOfPerf) {
  EXPECT_EQ(PerfWordsOf(0x1c29080002).level, "PMEM ");  // neither hit nor miss
  EXPECT_EQ(PerfWordsOf(0x10e68100042).level, "Unknown level 7 hit");
  EXPECT_EQ(PerfWordsOf(0x12668202042).level, "Remote L3 hit");  // remote memory, in truth
  EXPECT_EQ(PerfWordsOf(0xbe00080022).snoop, "N/A or Peer");
  EXPECT_EQ(PerfWordsOf(0x18000142).tlb, "N/A hit miss");
  EXPECT_EQ(PerfWordsOf(0x60000000142).blocked, " Data Addr");
  EXPECT_EQ(PerfWordsOf(0).op, "No");
}

// Columns: word, perf's line (which perf cuts), counters, where the word is from.
TEST(DataSourceWordsOracle, EveryRowOfPerfIsEqual) {
  MEMAGENT_NEEDS_TEST_DATA("");
  constexpr size_t kPerfLine = 82;
  int rows = 0;
  for (const std::string& line :
       ReadLines(TestDataRoot(MEMAGENT_SOURCE_DIR) / "oracle_display_c2c.tsv")) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> row = Split(line, '\t');
    std::string ours = PerfScriptText(std::stoull(row.at(0), nullptr, 0)).substr(0, kPerfLine);
    ours.erase(ours.find_last_not_of(' ') + 1);
    EXPECT_EQ(ours, row.at(1)) << row[0];
    ++rows;
  }
  EXPECT_EQ(rows, 603);
}

}  // namespace
}  // namespace memagent::viewer
