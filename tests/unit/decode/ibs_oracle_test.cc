// What three kernels made of IBS registers on five parts, row by row, and a recorded sample.
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <map>
#include <string>

#include "agent/decode/data_source.h"
#include "agent/decode/ibs_raw.h"
#include "agent/decode/perf_record.h"
#include "tests/support/data_source_printer.h"
#include "tests/support/ibs_linux.h"
#include "tests/support/test_data.h"

namespace memagent::decode {
namespace {

using memagent::testing::IbsRaw;
using memagent::testing::IbsRegisters;
using memagent::testing::LinuxAge;
using memagent::testing::LinuxIbsDataSource;
using memagent::testing::LinuxIbsWeight;
using memagent::testing::ReadLines;
using memagent::testing::Split;
using memagent::testing::TestDataRoot;

struct Part {
  IbsProcessor processor;
  uint32_t caps;
};

// Capabilities without the bits that change nothing here.
const std::map<std::string, Part> kParts = {
    {"zen2_rome", {{0x17, 0x31}, 0x3ff}},
    {"zen3_milan", {{0x19, 0x01}, 0x3ff}},
    {"zen4_genoa", {{0x19, 0x11}, 0xbff}},
    {"zen4_caps_with_dtlbpgsize", {{0x19, 0x11}, 0xbff | ibs_caps::kTlbPageSize}},
    {"zen5_turin", {{0x1a, 0x02}, 0x1bff}},
};

uint64_t Number(const std::string& text) { return std::stoull(text, nullptr, 0); }

// Columns: kernel, part, case, three registers, data source, address, physical address, whether
// there is a weight, its two halves.
void ExpectRow(const std::vector<std::string>& row) {
  const Part& part = kParts.at(row[1]);
  IbsRegisters registers;
  registers.caps = part.caps;
  registers.data = Number(row[3]);
  registers.data2 = Number(row[4]);
  registers.data3 = Number(row[5]);
  const auto op = ParseIbsOp(IbsRaw(registers), part.processor);
  ASSERT_TRUE(op);
  const LinuxAge age = row[0] == "linux-6.1" ? LinuxAge::kBefore6_2 : LinuxAge::kSince6_2;
  EXPECT_EQ(LinuxIbsDataSource(*op, part.processor, age), Number(row[6]));
  EXPECT_EQ(op->load || op->store ? op->address : 0, Number(row[7]));
  EXPECT_EQ(op->load || op->store ? op->physical : 0, Number(row[8]));
  const bool weighed = op->load && op->l1_miss;
  EXPECT_EQ(weighed, row[9] == "weight");
  EXPECT_EQ(LinuxIbsWeight(*op, registers), Number(row[10]));
  EXPECT_EQ(op->miss_cycles, op->software_prefetch ? 0 : Number(row[10]));
  EXPECT_EQ(weighed ? op->tag_to_retire_cycles : 0, Number(row[11]));
}

TEST(IbsOracle, EveryRowOfEveryKernelIsEqual) {
  MEMAGENT_NEEDS_TEST_DATA("ibs");
  int rows = 0;
  for (const std::string& line :
       ReadLines(TestDataRoot(MEMAGENT_SOURCE_DIR) / "ibs/oracle_ibs_data_src.tsv")) {
    if (line.empty() || line[0] == '#') continue;
    SCOPED_TRACE(line);
    const std::vector<std::string> row = Split(line, '\t');
    ASSERT_EQ(row.size(), 12u);
    ExpectRow(row);
    ++rows;
  }
  EXPECT_EQ(rows, 846);
}

// The kernel's word and the registers say the same to the rest of the agent, except for prefetches,
// and for what an old kernel leaves out.
TEST(IbsOracle, RegistersAndNewKernelsWordMeanTheSame) {
  MEMAGENT_NEEDS_TEST_DATA("ibs");
  for (const std::string& line :
       ReadLines(TestDataRoot(MEMAGENT_SOURCE_DIR) / "ibs/oracle_ibs_data_src.tsv")) {
    if (line.empty() || line[0] == '#') continue;
    SCOPED_TRACE(line);
    const std::vector<std::string> row = Split(line, '\t');
    const Part& part = kParts.at(row[1]);
    IbsRegisters registers;
    registers.caps = part.caps;
    registers.data2 = Number(row[4]);
    registers.data3 = Number(row[5]);
    const auto op = ParseIbsOp(IbsRaw(registers), part.processor);
    ASSERT_TRUE(op);
    const DataSource ours = DecodeIbsOp(*op, part.processor);
    DataSource kernels = DecodeDataSource(Number(row[6]));
    if (op->software_prefetch) kernels.op = MemoryOp::kPrefetch;
    const bool old_neighbour = row[0] == "linux-6.1" && ours.level == MemoryLevel::kPeerCache;
    const bool old_io = row[0] == "linux-6.1" && ours.level == MemoryLevel::kIo;
    if (old_neighbour || old_io) kernels.locality = ours.locality;
    EXPECT_EQ(ours, kernels);
  }
}

std::vector<uint8_t> BytesOfHex(const std::vector<std::string>& lines) {
  std::vector<uint8_t> bytes;
  for (const std::string& line : lines) {
    for (size_t at = 0; at + 1 < line.size(); at += 2) {
      bytes.push_back(static_cast<uint8_t>(std::stoul(line.substr(at, 2), nullptr, 16)));
    }
  }
  return bytes;
}

TEST(IbsOracle, RecordedSampleOfGenoa) {
  MEMAGENT_NEEDS_TEST_DATA("ibs");
  const std::vector<uint8_t> bytes =
      BytesOfHex(ReadLines(TestDataRoot(MEMAGENT_SOURCE_DIR) / "ibs/genoa_raw_sample.hex"));
  RecordLayout layout;
  layout.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                       PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
  const auto record = ParseRecord(bytes, layout);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->sample.time, 118629299983995u);
  const IbsProcessor genoa = {0x19, 0x11};
  const auto op = ParseIbsOp(record->sample.raw, genoa);
  ASSERT_TRUE(op);
  EXPECT_EQ(op->ip, record->sample.ip);
  EXPECT_EQ(IbsDataSource(*op, genoa), 0x1a29081042u);
  EXPECT_EQ(op->miss_cycles, 476);
  EXPECT_EQ(op->tag_to_retire_cycles, 1271);
  EXPECT_EQ(op->address, 0xffff899f7c3b5784u);
}

}  // namespace
}  // namespace memagent::decode
