// Checkpoints: what is written again, replaced, split over chunks or refused.
#include <array>
#include <string>
#include <vector>

#include "tests/unit/profile/writer_fixture.h"

namespace memagent::profile {
namespace {

using WriterCheckpoint = WriterTest;

TEST_F(WriterCheckpoint, ALaterCheckpointReplacesAnEarlierOne) {
  SiteTotalData total;
  total.site = 1;
  for (uint64_t round = 1; round <= 3; ++round) {
    AccountingData accounting;
    accounting.samples_seen = round * 10;
    total.samples = round;
    writer_.BeginTotals(round, round == 3);
    if (round != 3) writer_.AddSiteTotal(total);
    writer_.EndTotals(accounting, OwnCostData{});
  }
  const Profile profile = Read();
  EXPECT_EQ(profile.accounting.samples_seen(), 30u);
  EXPECT_EQ(profile.sites.at(1).total.samples(), 2u);  // unchanged since the second
  EXPECT_TRUE(profile.final);
}

TEST_F(WriterCheckpoint, ABigCheckpointIsSplitAndAppliedWhole) {
  std::vector<CellData> cells(500, CellData{0, NodeId{0}, NodeId{0}, 1'000'000});
  SiteTotalData total;
  total.cells = cells;
  writer_.BeginTotals(9, true);
  for (uint32_t site = 1; site <= 1000; ++site) {
    total.site = site;
    ASSERT_TRUE(writer_.AddSiteTotal(total));
  }
  AccountingData accounting;
  accounting.samples_seen = 4;
  ASSERT_TRUE(writer_.EndTotals(accounting, OwnCostData{}));
  EXPECT_GT(sink_.ends.size(), 5u);
  for (size_t i = 1; i < sink_.ends.size(); ++i) {
    EXPECT_LT(sink_.ends[i] - sink_.ends[i - 1], 2 * ProfileWriter::kChunkBytes);
  }
  EXPECT_EQ(Read().sites.size(), 1000u);
  // Without its last part the checkpoint does not count at all.
  const LoadResult cut = ParseProfile(sink_.text.substr(0, sink_.text.size() - 1), "cut");
  ASSERT_TRUE(cut.profile.has_value());
  EXPECT_TRUE(cut.profile->sites.empty());
  EXPECT_EQ(cut.profile->checkpoint_time, 0u);
}

TEST_F(WriterCheckpoint, AThreadRenamedInsideACheckpointKeepsItsNewName) {
  writer_.BeginTotals(1, false);
  for (uint32_t thread = 1; thread <= 3; ++thread) {
    ThreadTotalData total;
    total.thread = thread;
    const std::string name = "worker" + std::to_string(thread);
    total.name = name;
    ASSERT_TRUE(writer_.AddThreadTotal(total));
  }
  ASSERT_TRUE(writer_.EndTotals(AccountingData{}, OwnCostData{}));
  const Profile profile = Read();
  ASSERT_EQ(profile.threads.size(), 4u);
  EXPECT_EQ(profile.Text(profile.threads[2].total.name()), "worker2");
}

TEST_F(WriterCheckpoint, ANewReservoirReplacesTheOld) {
  const std::array<SiteData, 1> sites = {SiteData{5, RegionKind::kHeap, 0, "", 0, 0, 0, false}};
  writer_.WriteSites(sites);
  std::vector<RawSampleData> samples(
      9000, RawSampleData{1, 2, 3, 0, 5, 0, Evidence::kExact, NodeId::kUnknown});
  ASSERT_TRUE(writer_.WriteRawSamples(samples));
  samples[8999] = {~uint64_t{0}, 22, 33, 0, 55, 5, Evidence::kPcOnly, NodeId{3}};
  ASSERT_TRUE(writer_.WriteRawSamples(samples));
  const Profile profile = Read();
  ASSERT_EQ(profile.raw_samples.size(), 9000u);
  EXPECT_EQ(profile.raw_samples[0].memory_node, -1);
  const RawSample& last = profile.raw_samples[8999];
  EXPECT_EQ(last.time, ~uint64_t{0});
  EXPECT_EQ(last.ip, 22u);
  EXPECT_EQ(last.address, 33u);
  EXPECT_EQ(last.cpu, 55u);
  EXPECT_EQ(last.site, 5u);
  EXPECT_EQ(last.evidence, 3u);
  EXPECT_EQ(last.memory_node, 3);
}

TEST_F(WriterCheckpoint, EventsAndSymbolsComeBack) {
  const std::array<FrameData, 2> frames = {FrameData{0, 0x10, false}, FrameData{0, 0x20, false}};
  const std::array<SymbolData, 2> symbols = {SymbolData{1, "_Z3foov", 4}, SymbolData{2, "", 0}};
  const std::array<EventData, 1> events = {
      EventData{8, Severity::kWarning, "disk_full", "The disk is full."}};
  writer_.WriteFrames(1, frames);
  ASSERT_TRUE(writer_.WriteSymbols(symbols));
  ASSERT_TRUE(writer_.WriteEvents(events));
  const Profile profile = Read();
  EXPECT_EQ(profile.FunctionOf(1), "_Z3foov");
  EXPECT_EQ(profile.frames[1].function_offset, 4u);
  EXPECT_EQ(profile.FunctionOf(2), "");
  ASSERT_EQ(profile.events.size(), 1u);
  EXPECT_EQ(profile.events[0].severity(), v1::Event::WARNING);
  EXPECT_EQ(profile.events[0].code(), "disk_full");
  EXPECT_EQ(profile.events[0].text(), "The disk is full.");
  EXPECT_EQ(profile.events[0].time(), 8u);
}

TEST_F(WriterCheckpoint, StartOverWritesTheStringsAgain) {
  const std::array<ThreadData, 1> threads = {ThreadData{10, "main", 1, true}};
  writer_.WriteHeader(HeaderData{});
  writer_.WriteThreads(1, threads);
  sink_ = MemorySink();
  writer_.StartOver();
  writer_.WriteHeader(HeaderData{});
  writer_.WriteThreads(1, threads);
  const Profile profile = Read();
  EXPECT_EQ(profile.Text(profile.threads[1].start.name()), "main");
}

TEST_F(WriterCheckpoint, ARefusingSinkIsReportedAndSurvived) {
  sink_.refuse = true;
  EXPECT_FALSE(writer_.WriteHeader(HeaderData{}));
  const std::array<ThreadData, 1> threads = {ThreadData{10, "main", 1, true}};
  EXPECT_FALSE(writer_.WriteThreads(1, threads));
  writer_.BeginTotals(1, true);
  EXPECT_FALSE(writer_.EndTotals(AccountingData{}, OwnCostData{}));
  EXPECT_FALSE(writer_.WriteFooter(FooterData{}));
}

}  // namespace
}  // namespace memagent::profile
