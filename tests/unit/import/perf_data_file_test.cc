#include "viewer/import/perf_data_file.h"

#include <gtest/gtest.h>

#include "tests/unit/import/import_fixture.h"

namespace memagent::importer {
namespace {

PerfDataFile MustParse(const Bytes& bytes) {
  PerfDataResult result = ParsePerfData(bytes, "perf.data");
  EXPECT_TRUE(result.file.has_value()) << result.problem;
  return result.file.value_or(PerfDataFile());
}

std::string ProblemOf(const Bytes& bytes) {
  const PerfDataResult result = ParsePerfData(bytes, "perf.data");
  EXPECT_FALSE(result.file.has_value());
  return result.problem;
}

void Overwrite(Bytes& bytes, size_t at, uint64_t value) {
  memcpy(bytes.data() + at, &value, sizeof(value));
}

PerfDataBuilder FullFile() {
  PerfDataBuilder file = IntelMachine();
  Bytes command;
  testing::AppendU32(command, 2);
  testing::AppendString(command, "perf");
  testing::AppendString(command, "record");
  file.SetFeature(11, command);
  Bytes pmus;
  testing::AppendU32(pmus, 1);
  testing::AppendU32(pmus, 4);
  testing::AppendString(pmus, "cpu");
  file.SetFeature(16, pmus);
  Bytes clock;
  testing::AppendU32(clock, 1);
  testing::AppendU32(clock, 1);
  testing::AppendU64(clock, 1'700'000'000'000'000'000);
  testing::AppendU64(clock, 500);
  file.SetFeature(29, clock);
  return file;
}

void ExpectFullFile(const PerfDataFile& file) {
  ASSERT_EQ(file.events.size(), 2u);
  EXPECT_EQ(file.events[0].name, "cpu/mem-loads,ldlat=30/P");
  EXPECT_EQ(file.events[0].attr.config, 0x1cdu);
  EXPECT_EQ(file.events[0].ids, std::vector<uint64_t>{kLoadId});
  EXPECT_EQ(file.events[1].name, "cpu/mem-stores/P");
  EXPECT_EQ(file.machine.host, "box");
  EXPECT_EQ(file.machine.kernel_release, "6.1.0");
  EXPECT_EQ(file.machine.architecture, "x86_64");
  EXPECT_EQ(file.machine.cpu_id, "GenuineIntel,6,85,4");
  EXPECT_EQ(file.machine.command_line, (std::vector<std::string>{"perf", "record"}));
  EXPECT_EQ(file.machine.pmus.at(4), "cpu");
  ASSERT_EQ(file.machine.nodes.size(), 2u);
  EXPECT_EQ(file.machine.nodes[1].cpus, "2-3");
  EXPECT_EQ(file.machine.nodes[1].memory_bytes, uint64_t{1} << 30);
  EXPECT_EQ(file.machine.memory_block_bytes, uint64_t{1} << 30);
  ASSERT_EQ(file.machine.memory.size(), 2u);
  EXPECT_EQ(file.machine.memory[1].blocks, std::vector<uint64_t>{6});
  ASSERT_TRUE(file.machine.clock.has_value());
  EXPECT_EQ(file.machine.clock->event_nanos, 500u);
  EXPECT_TRUE(file.warnings.empty());
}

TEST(PerfDataFile, HeaderTellsEventsAndMachine) { ExpectFullFile(MustParse(FullFile().File())); }

TEST(PerfDataFile, PipeTellsTheSameInRecords) { ExpectFullFile(MustParse(FullFile().Pipe())); }

TEST(PerfDataFile, EveryCutIsASentenceOrAWarning) {
  const Bytes whole = FullFile().File();
  for (size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<long>(size));
    const PerfDataResult result = ParsePerfData(cut, "perf.data");
    EXPECT_FALSE(result.file.has_value() && result.file->warnings.empty()) << size;
    EXPECT_EQ(result.problem.empty(), result.file.has_value()) << size;
  }
}

TEST(PerfDataFile, OtherFilesAreRefusedBySentence) {
  EXPECT_EQ(ProblemOf({}),
            "perf.data is not a perf.data file: give what perf record or perf mem record wrote.");
  EXPECT_EQ(ProblemOf(Bytes(200, 'x')), ProblemOf({}));
  Bytes bytes = FullFile().File();
  std::reverse(bytes.begin(), bytes.begin() + 8);
  EXPECT_EQ(ProblemOf(bytes),
            "perf.data was recorded on a big-endian machine, which memagent cannot read.");
  bytes = FullFile().File();
  memcpy(bytes.data(), "PERFFILE", 8);
  EXPECT_NE(ProblemOf(bytes).find("older than Linux 3.0"), std::string::npos);
}

TEST(PerfDataFile, CompressedRecordsAreRefused) {
  PerfDataBuilder file = FullFile();
  file.Add(RecordBuilder(81).U64(0x1234));
  EXPECT_EQ(ProblemOf(file.File()),
            "perf.data is compressed, which memagent cannot read: record without -z.");
}

TEST(PerfDataFile, UnfinishedRecordingIsReadToItsEnd) {
  Bytes bytes = FullFile().File();
  uint64_t data_size = 0;
  memcpy(&data_size, bytes.data() + 48, sizeof(data_size));
  uint64_t data_at = 0;
  memcpy(&data_at, bytes.data() + 40, sizeof(data_at));
  Overwrite(bytes, 48, 0);
  bytes.resize(data_at + data_size);
  const PerfDataFile file = MustParse(bytes);
  EXPECT_EQ(file.records.size(), data_size);
  ASSERT_EQ(file.warnings.size(), 1u);
  EXPECT_NE(file.warnings[0].find("not ended properly"), std::string::npos);
}

TEST(PerfDataFile, SectionsBeyondTheFileCostNothing) {
  for (const size_t field : {16u, 24u, 32u, 40u, 48u, 56u, 64u}) {
    for (const uint64_t value : {uint64_t{0}, uint64_t{1} << 40, UINT64_MAX, UINT64_MAX - 8}) {
      Bytes bytes = FullFile().File();
      Overwrite(bytes, field, value);
      const PerfDataResult result = ParsePerfData(bytes, "perf.data");
      EXPECT_EQ(result.problem.empty(), result.file.has_value()) << field;
    }
  }
}

// All events may point to the same ids.
TEST(PerfDataFile, IdsOfAllEventsTogetherFitIntoTheFile) {
  PerfDataBuilder builder;
  for (int i = 0; i < 64; ++i) builder.AddEvent(PebsAttr(0x1cd), {1, 2, 3, 4}, "e");
  Bytes bytes = builder.File();
  const uint64_t attrs_at = 104 + 64 * 32;
  for (int i = 0; i < 64; ++i) {
    const size_t ids = attrs_at + static_cast<size_t>(i) * (sizeof(perf_event_attr) + 16) +
                       sizeof(perf_event_attr);
    Overwrite(bytes, ids, 0);
    Overwrite(bytes, ids + 8, UINT64_MAX);
  }
  size_t ids = 0;
  for (const PerfEvent& event : MustParse(bytes).events) ids += event.ids.size();
  EXPECT_LE(ids, bytes.size() / 8);
}

TEST(PerfDataFile, BuildIdsTellTheirSizeOrNot) {
  Bytes list;
  for (const bool sized : {false, true}) {
    RecordBuilder entry(0, sized ? 1 << 15 : 0);
    entry.U32(UINT32_MAX);
    const uint8_t id[24] = {1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0};
    entry.Append(id, sizeof(id));
    testing::AddName(entry, sized ? "/sized" : "/old");
    testing::AppendBytes(list, entry.Bytes());
  }
  PerfDataBuilder builder = FullFile();
  builder.SetFeature(2, list);
  const PerfDataFile file = MustParse(builder.File());
  ASSERT_EQ(file.build_ids.size(), 2u);
  EXPECT_EQ(file.build_ids[0].path, "/old");
  EXPECT_EQ(file.build_ids[0].id.size(), 20u);
  EXPECT_FALSE(file.build_ids[0].size_known);
  EXPECT_EQ(file.build_ids[1].path, "/sized");
  EXPECT_EQ(file.build_ids[1].id, std::string("\1\2\3\4\5\6\7\10"));
}

TEST(PerfDataFile, TimeConversionHasItsShortFormSince5_10) {
  PerfDataBuilder builder = FullFile();
  builder.Add(RecordBuilder(79).U64(4).U64(10).U64(1000));
  const PerfDataFile old = MustParse(builder.File());
  ASSERT_TRUE(old.time_conversion.has_value());
  EXPECT_EQ(old.time_conversion->ToNanos(160), 1100u);
  builder.Add(RecordBuilder(79).U64(4).U64(10).U64(1000).U64(3).U64(0xff).U64(0x0101));
  EXPECT_EQ(MustParse(builder.File()).time_conversion->mask, 0xffu);
}

TEST(PerfDataFile, RecordWithoutASizeEndsTheFileWithAWarning) {
  PerfDataBuilder builder = FullFile();
  builder.Add(Bytes(16, 0));
  builder.Add(Record(Sample{}));
  const PerfDataFile file = MustParse(builder.File());
  ASSERT_EQ(file.warnings.size(), 1u);
  EXPECT_NE(file.warnings[0].find("what comes after that is missing"), std::string::npos);
}

}  // namespace
}  // namespace memagent::importer
