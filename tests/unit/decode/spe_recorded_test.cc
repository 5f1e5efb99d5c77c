// Bytes recorded on Arm hardware, and what perf 7.2 makes of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "agent/decode/spe_data_source.h"
#include "agent/decode/spe_record.h"
#include "tests/support/spe_text.h"
#include "tests/support/test_data.h"

namespace memagent::decode {
namespace {

using memagent::testing::ReadBytes;
using memagent::testing::ReadLines;
using memagent::testing::TestDataRoot;

std::filesystem::path Folder() { return TestDataRoot(MEMAGENT_SOURCE_DIR) / "spe"; }

// The recorded strings; perf was given them filled up to a multiple of 8 bytes.
std::vector<std::filesystem::path> Recordings() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(Folder())) {
    if (entry.path().extension() == ".bin") paths.push_back(entry.path());
  }
  EXPECT_GE(paths.size(), 10u);
  return paths;
}

std::vector<uint8_t> Padded(const std::filesystem::path& path) {
  std::vector<uint8_t> bytes = ReadBytes(path);
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return bytes;
}

TEST(SpeRecorded, PacketsAreThoseThatPerfLists) {
  MEMAGENT_NEEDS_TEST_DATA("spe");
  size_t packets = 0;
  for (std::filesystem::path path : Recordings()) {
    const std::vector<std::string> ours = memagent::testing::SpeListing(Padded(path));
    std::vector<std::string> theirs = ReadLines(path.replace_extension(".perf72-packets.txt"));
    ASSERT_FALSE(theirs.empty()) << path;
    theirs.erase(theirs.begin());  // a heading
    while (!theirs.empty() && theirs.back().empty()) theirs.pop_back();
    EXPECT_EQ(ours, theirs) << path;
    packets += ours.size();
  }
  RecordProperty("packets", static_cast<int>(packets));
}

TEST(SpeRecorded, OperationsAreNamedAsPerfNamesThem) {
  MEMAGENT_NEEDS_TEST_DATA("spe");
  int rows = 0;
  for (const std::string& line : ReadLines(Folder() / "oracle_optype_0x49.txt")) {
    const auto payload = static_cast<uint8_t>(std::stoi(line.substr(3, 2), nullptr, 16));
    const std::vector<uint8_t> bytes = {0x49, payload};
    EXPECT_EQ(memagent::testing::SpePacketText(ParseSpePacket(bytes, 0)),
              line.substr(line.find_first_of("LS")));
    ++rows;
  }
  EXPECT_EQ(rows, 36);
}

// The memory samples that `perf script` synthesizes, in its words: address, data source, weight
// (the total latency), code address, physical address. perf was told that the core is a Neoverse
// N1.
std::vector<std::string> Samples(const std::vector<uint8_t>& bytes) {
  constexpr SpeCpu kNeoverseN1 = {.encoding = SpeEncoding::kCommon};
  std::vector<std::string> samples;
  SpeRecordReader reader(bytes, 0);
  for (SpeRecord record; reader.Next(record);) {
    if (!record.is_memory_access()) continue;
    samples.push_back(memagent::testing::Format(
        "%lx %lx %d %lx %lx", record.virtual_address, SpePerfDataSource(record, kNeoverseN1),
        int{record.total_latency.value_or(0)}, record.pc, record.physical_address));
  }
  return samples;
}

// "memory: ADDRESS SOURCE |the source in words| WEIGHT CODE PHYSICAL" without what is between.
std::string NumbersOf(const std::string& line) {
  const size_t words = line.find('|');
  const size_t after = line.rfind("N/A", line.size()) + 3;
  std::istringstream before(line.substr(0, words) + line.substr(after));
  std::string numbers;
  std::string number;
  before >> number;
  while (before >> number) numbers += (numbers.empty() ? "" : " ") + number;
  return numbers;
}

TEST(SpeRecorded, MemorySamplesAreThoseThatPerfSynthesizes) {
  MEMAGENT_NEEDS_TEST_DATA("spe");
  size_t samples = 0;
  for (std::filesystem::path path : Recordings()) {
    const std::vector<std::string> ours = Samples(Padded(path));
    std::vector<std::string> theirs;
    for (const auto& line : ReadLines(path.replace_extension(".perf72-mem-samples.txt"))) {
      theirs.push_back(NumbersOf(line));
    }
    EXPECT_EQ(ours, theirs) << path;
    samples += theirs.size();
  }
  RecordProperty("samples", static_cast<int>(samples));
  EXPECT_GE(samples, 20u);
}

SpeRecord RecordOf(const std::string& operation) {
  SpeRecord record;
  record.is_load = operation == "LD";
  record.is_store = operation == "ST";
  record.virtual_address = 0x1000;
  return record;
}

uint64_t Hex(const std::string& text) { return std::stoull(text, nullptr, 16); }

TEST(SpeRecorded, SourcesMeanOnEachCoreWhatPerfTakesThemFor) {
  MEMAGENT_NEEDS_TEST_DATA("spe");
  const std::pair<const char*, uint64_t> cores[] = {
      {"NEOVERSE_N1", 0x410fd0c0},    {"NEOVERSE_V2", 0x410fd4f0},
      {"NVIDIA_OLYMPUS", 0x4e0f0100}, {"AMPERE1A", 0xc00fac40},
      {"HISI_HIP12", 0x480fd060},     {"unknown (0x41,0xd05)", 0x410fd050},
  };
  int rows = 0;
  for (const std::string& line : ReadLines(Folder() / "oracle_data_source_by_midr.tsv")) {
    const auto fields = memagent::testing::Split(line, '\t');
    SpeCpu cpu;
    for (const auto& [name, midr] : cores) {
      if (fields[0].starts_with(name)) cpu.encoding = SpeEncodingOf(midr);
    }
    SpeRecord record = RecordOf(fields[1]);
    const std::string source = fields[2].substr(fields[2].find('=') + 1);
    if (source != "none") record.data_source = Hex(source);
    EXPECT_EQ(SpePerfDataSource(record, cpu), Hex(fields[3])) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 276);
}

TEST(SpeRecorded, EventsAloneMeanWhatPerfTakesThemFor) {
  MEMAGENT_NEEDS_TEST_DATA("spe");
  int rows = 0;
  for (const std::string& line : ReadLines(Folder() / "oracle_events_only.tsv")) {
    const auto fields = memagent::testing::Split(line, '\t');
    const SpeCpu cpu = {.tells_snoops = fields[0].ends_with("SNOOPED supported")};
    SpeRecord record = RecordOf(fields[1]);
    record.events = Hex(fields[2].substr(fields[2].rfind(' ')));
    EXPECT_EQ(SpePerfDataSource(record, cpu), Hex(fields[3])) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 68);
}

}  // namespace
}  // namespace memagent::decode
