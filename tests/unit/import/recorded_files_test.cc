// Files that perf recorded on other machines: what we make of them equals what perf says of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "tests/support/test_data.h"
#include "tests/unit/import/import_fixture.h"

namespace memagent::importer {
namespace {

Bytes Recorded(std::string_view name) {
  return testing::ReadBytes(testing::TestDataRoot(MEMAGENT_SOURCE_DIR) / "perf_data" / name);
}

// Facts: perf_abi 7.1; weights and CPUs as `perf script` of Linux 6.1 prints them.
TEST(RecordedFiles, PebsSamplesOfAXeonAreThoseOfPerf) {
  MEMAGENT_NEEDS_TEST_DATA("perf_data");
  const Import import = ImportBytes(Recorded("perf.data.weight_struct"));
  ASSERT_EQ(import.result.problem, "");
  ExpectAccounted(import.profile);
  EXPECT_EQ(import.profile.accounting.samples_seen(), 14u);
  std::map<uint64_t, std::vector<uint32_t>> weights;
  for (const profile::RawSample& sample : import.profile.raw_samples) {
    weights[sample.data_src].push_back(sample.latency_cycles);
  }
  for (auto& [source, list] : weights) std::sort(list.begin(), list.end());
  const std::map<uint64_t, std::vector<uint32_t>> expected = {
      {0x11868100242, {70, 89, 96, 225, 249}},
      {0x10668100842, {70, 80, 117}},
      {0x10650100842, {240}},
      {0x10268100142, {71, 168}},
      {0x1026a100142, {81, 92}},
      {0x10468100442, {77}}};
  EXPECT_EQ(weights, expected);
  EXPECT_EQ(SamplesOf(import.profile, "[kernel]"), 9u);
  EXPECT_EQ(import.profile.header.machine().nodes_size(), 2);
  EXPECT_EQ(import.profile.header.process().arguments(0), "/usr/bin/perf5");
  EXPECT_EQ(import.profile.header.engines(0).kind(), v1::Engine::PEBS);
}

TEST(RecordedFiles, ThreadsHaveThePlaceAndNameThatPerfGivesThem) {
  MEMAGENT_NEEDS_TEST_DATA("perf_data");
  const Import import = ImportBytes(Recorded("perf.data.weight_struct"));
  ASSERT_EQ(import.result.problem, "");
  const profile::RawSample& first = import.profile.raw_samples.front();
  const profile::Thread& thread = import.profile.threads[first.thread];
  EXPECT_EQ(first.cpu, 28u);
  EXPECT_EQ(first.time / 1000, 13166'196'585u);
  EXPECT_EQ(first.ip, 0xffffffffa4470d46u);
  EXPECT_EQ(thread.start.tid(), 20144);
  EXPECT_EQ(import.profile.Text(thread.start.name()), "census_housekee");
}

TEST(RecordedFiles, FilesWithoutMemoryEventsSaySo) {
  MEMAGENT_NEEDS_TEST_DATA("perf_data");
  const std::pair<std::string_view, std::string_view> files[] = {
      {"perf.data.hybrid_topology", "cpu_core/cycles:ppp/, cpu_atom/cycles:ppp/"},
      {"perf.data.lost_samples-4.4", "cycles:pp, instructions:pp, branch-instructions:pp"},
      {"perf.data.numatopology-3.2", "cycles"},
      {"perf.data.throttle-3.8", "cycles, instructions"}};
  for (const auto& [file, events] : files) {
    const Import import = ImportBytes(Recorded(file));
    EXPECT_TRUE(import.result.problem.starts_with("perf.data has no memory events, only " +
                                                  std::string(events) + ": record them with"))
        << import.result.problem;
  }
}

TEST(RecordedFiles, TopologyOfAnOldFileIsRead) {
  MEMAGENT_NEEDS_TEST_DATA("perf_data");
  const Bytes bytes = Recorded("perf.data.numatopology-3.2");
  const PerfDataResult result = ParsePerfData(bytes, "perf.data");
  ASSERT_TRUE(result.file.has_value());
  EXPECT_TRUE(result.file->warnings.empty());
  ASSERT_EQ(result.file->machine.nodes.size(), 2u);
  EXPECT_EQ(result.file->machine.nodes[0].cpus, "0-7,16-23");
}

// A trace as perf would have copied it out of a thread's AUX area.
Bytes Wrapped(Bytes trace) {
  PerfDataBuilder file;
  perf_event_attr attr = {};
  attr.type = 9;
  file.AddEvent(attr, {1}, "arm_spe_0//");
  file.SetFeature(9, testing::StringFeature("0x00000000413fd0c1"));  // a Neoverse N1
  file.Add(RecordBuilder(70).U32(4).U32(0).U64(9).U64(0));
  trace.resize((trace.size() + 15) / 16 * 16);
  file.Add(RecordBuilder(71).U64(trace.size()).U64(0).U64(0).U32(0).U32(10).U32(UINT32_MAX).U32(0));
  file.Add(trace);
  return file.File();
}

// Data source, weight and code of "memory: ADDRESS SOURCE |in words| WEIGHT CODE PHYSICAL".
std::string NumbersOf(const std::string& line) {
  std::istringstream before(line.substr(line.find(':') + 1));
  std::istringstream after(line.substr(line.rfind("N/A") + 3));
  std::string address;
  std::string source;
  std::string weight;
  std::string code;
  before >> address >> source;
  after >> weight >> code;
  return source + " " + weight + " " + code;
}

// What perf 7.2 makes of bytes that were recorded on Arm hardware. Two of its samples are of
// records that are damaged, one without its beginning and one with packets of several: we drop
// these.
TEST(RecordedFiles, SpeBytesGivePerfsSamples) {
  MEMAGENT_NEEDS_TEST_DATA("spe");
  size_t equal = 0;
  size_t all = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(testing::TestDataRoot(MEMAGENT_SOURCE_DIR) / "spe")) {
    if (entry.path().extension() != ".bin") continue;
    std::multiset<std::string> theirs;
    std::multiset<std::string> ours;
    auto listing = entry.path();
    for (const auto& line :
         testing::ReadLines(listing.replace_extension(".perf72-mem-samples.txt"))) {
      theirs.insert(NumbersOf(line));
    }
    const Import import = ImportBytes(Wrapped(testing::ReadBytes(entry.path())));
    for (const profile::RawSample& sample : import.profile.raw_samples) {
      if (sample.data_src == 0) continue;
      std::ostringstream text;
      text << std::hex << sample.data_src << std::dec << ' ' << sample.latency_cycles << ' ';
      ours.insert((text << std::hex << sample.ip, text.str()));
    }
    EXPECT_TRUE(std::includes(theirs.begin(), theirs.end(), ours.begin(), ours.end()))
        << entry.path().filename();
    equal += ours.size();
    all += theirs.size();
    if (import.result.problem.empty()) ExpectAccounted(import.profile);
  }
  EXPECT_EQ(equal, 20u);
  EXPECT_EQ(all, 22u);
}

}  // namespace
}  // namespace memagent::importer
