// Damaged, cut, foreign and hostile files.
#include "agent/profile/reader.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "agent/profile/crc32c.h"
#include "agent/profile/writer.h"
#include "tests/unit/profile/memory_sink.h"

namespace memagent::profile {
namespace {

// A small profile with one record of most kinds and two checkpoints.
MemorySink SmallProfile() {
  MemorySink sink;
  ProfileWriter writer(sink);
  const std::array<ThreadData, 1> threads = {ThreadData{10, "main", 1, true}};
  const std::array<ModuleData, 1> modules = {ModuleData{"/bin/app", "id", 0, 9, 0, 1, 0}};
  const std::array<FrameData, 1> frames = {FrameData{1, 0x10, false}};
  const std::array<StackData, 1> stacks = {StackData{0, 1}};
  const std::array<SiteData, 1> sites = {SiteData{1, RegionKind::kHeap, 1, "", 0, 0, 0, false}};
  const std::array<SymbolData, 1> symbols = {SymbolData{1, "main", 4}};
  writer.WriteHeader(HeaderData{});
  writer.WriteThreads(1, threads);
  writer.WriteModules(1, modules);
  writer.WriteFrames(1, frames);
  writer.WriteStacks(1, stacks);
  writer.WriteSites(sites);
  for (uint64_t round = 1; round <= 2; ++round) {
    SiteTotalData total;
    total.site = 1;
    total.samples = round;
    AccountingData accounting;
    accounting.samples_seen = accounting.attributed = round;
    writer.BeginTotals(round, round == 2);
    writer.AddSiteTotal(total);
    writer.EndTotals(accounting, OwnCostData{});
  }
  writer.WriteSymbols(symbols);
  writer.WriteFooter(FooterData{3, "exit"});
  return sink;
}

// Frames a chunk by hand, for records the writer would never write.
std::string Frame(v1::Chunk chunk) {
  const std::string seq = [&chunk] {
    v1::Chunk only_seq;
    only_seq.set_seq(chunk.seq());
    return chunk.seq() == 0 ? std::string("\x10\0", 2) : only_seq.SerializeAsString();
  }();
  chunk.clear_seq();
  const std::string summed = seq + chunk.SerializeAsString();
  const uint32_t crc = Crc32c(std::span<const char>(summed));
  std::string body = "\x0d" + std::string(reinterpret_cast<const char*>(&crc), 4) + summed;
  std::string length;
  for (size_t left = body.size(); left != 0 || length.empty(); left >>= 7) {
    length += static_cast<char>((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
    if (left <= 0x7f) break;
  }
  return "\x0a" + length + body;
}

TEST(Reader, WholeProfileHasNoWarnings) {
  const LoadResult result = ParseProfile(SmallProfile().text, "p");
  ASSERT_TRUE(result.profile.has_value());
  EXPECT_TRUE(result.warnings.empty());
  EXPECT_EQ(result.profile->accounting.samples_seen(), 2u);
  EXPECT_EQ(result.profile->FunctionOf(1), "main");
  EXPECT_EQ(result.profile->Text(result.profile->ModuleOf(1).path()), "/bin/app");
  EXPECT_EQ(result.profile->load.chunks_read, SmallProfile().ends.size());
  ASSERT_TRUE(result.profile->footer.has_value());
  EXPECT_EQ(result.profile->footer->chunks(), SmallProfile().ends.size());
}

TEST(Reader, AVarianceThatIsNoneIsAsLargeAsCanBe) {
  MemorySink sink;
  ProfileWriter writer(sink);
  writer.WriteHeader(HeaderData{});
  SiteTotalData total;
  total.site = 1;
  total.sampled = {1, 0, -1, NAN, INFINITY, 1e300, 4, 0, 0};
  writer.BeginTotals(1, true);
  writer.AddSiteTotal(total);
  writer.EndTotals(AccountingData{}, OwnCostData{});
  const LoadResult result = ParseProfile(sink.text, "p");
  ASSERT_TRUE(result.profile.has_value());
  const v1::SampledCounts& read = result.profile->sites.at(1).total.sampled();
  for (double variance : {read.allocations_variance(), read.frees_variance(),
                          read.bytes_allocated_variance(), read.bytes_freed_variance()}) {
    EXPECT_EQ(variance, 1e200);
  }
  EXPECT_EQ(read.bytes_peak_variance(), 4);
}

TEST(Reader, EveryTruncationKeepsEveryWholeChunk) {
  const MemorySink whole = SmallProfile();
  for (size_t length = 0; length <= whole.text.size(); ++length) {
    const LoadResult result = ParseProfile(whole.text.substr(0, length), "p");
    size_t chunks = 0;
    bool at_chunk_end = length == 0;
    for (const size_t end : whole.ends) {
      if (end <= length) ++chunks;
      if (end == length) at_chunk_end = true;
    }
    if (chunks == 0) {
      ASSERT_FALSE(result.profile.has_value()) << length;
      ASSERT_EQ(
          result.problem,
          length == 0
              ? "p is empty: the program ended, or its disk was full, before the first record."
              : "p ends or is damaged inside its first record: nothing can be read.");
      continue;
    }
    ASSERT_TRUE(result.profile.has_value()) << length << ": " << result.problem;
    ASSERT_EQ(result.profile->load.chunks_read, chunks) << length;
    ASSERT_EQ(result.profile->load.chunks_damaged, 0u) << length;
    ASSERT_EQ(result.profile->load.truncated, !at_chunk_end) << length;
    const bool complete = at_chunk_end && result.profile->checkpoint_time != 0;
    ASSERT_EQ(result.warnings.empty(), complete) << length;
  }
}

TEST(Reader, ATruncatedProfileSaysSo) {
  const std::string text = SmallProfile().text;
  const LoadResult result = ParseProfile(text.substr(0, text.size() - 1), "p");
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0],
            "p ends in the middle of a record: the program was killed or the disk full while it "
            "was written. Everything before that is used.");
}

TEST(Reader, EveryBitFlipIsNoticedOrHarmless) {
  const MemorySink whole = SmallProfile();
  for (size_t byte = 0; byte < whole.text.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string text = whole.text;
      text[byte] = static_cast<char>(text[byte] ^ (1 << bit));
      const LoadResult result = ParseProfile(text, "p");
      ASSERT_TRUE(result.profile.has_value()) << byte << "." << bit << ": " << result.problem;
      ASSERT_EQ(result.profile->load.chunks_read, whole.ends.size() - 1) << byte << "." << bit;
      ASSERT_FALSE(result.warnings.empty()) << byte << "." << bit;
    }
  }
}

TEST(Reader, ADamagedChunkLeavesAHoleButShiftsNothing) {
  MemorySink sink;
  ProfileWriter writer(sink);
  writer.WriteHeader(HeaderData{});
  const std::array<ThreadData, 1> first = {ThreadData{10, "alpha", 1, true}};
  const std::array<ThreadData, 1> second = {ThreadData{11, "beta", 2, false}};
  writer.WriteThreads(1, first);
  writer.WriteThreads(2, second);
  sink.text[sink.text.find("alpha")] = 'A';
  const LoadResult result = ParseProfile(sink.text, "p");
  ASSERT_TRUE(result.profile.has_value());
  EXPECT_EQ(result.profile->load.chunks_damaged, 1u);
  EXPECT_EQ(result.profile->load.chunks_missing, 0u);
  EXPECT_EQ(result.profile->Text(result.profile->threads[1].start.name()), "");
  EXPECT_EQ(result.profile->Text(result.profile->threads[2].start.name()), "beta");
}

TEST(Reader, AMissingChunkIsCounted) {
  const MemorySink whole = SmallProfile();
  std::string text = whole.text;
  text.erase(whole.ends[1], whole.ends[2] - whole.ends[1]);
  const LoadResult result = ParseProfile(text, "p");
  ASSERT_TRUE(result.profile.has_value());
  EXPECT_EQ(result.profile->load.chunks_missing, 1u);
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_EQ(result.warnings[0], "1 record of p missing: numbers or names may be missing.");
}

TEST(Reader, ALostHeaderIsAWarningNotTheEnd) {
  const MemorySink whole = SmallProfile();
  const LoadResult result = ParseProfile(whole.text.substr(whole.ends[0]), "p");
  ASSERT_TRUE(result.profile.has_value());
  EXPECT_EQ(result.warnings[0], "p has lost its header: how it was made is unknown.");
}

TEST(Reader, AnotherMajorVersionIsRefused) {
  v1::Chunk chunk;
  chunk.mutable_header()->set_magic(kFormatMagic);
  chunk.mutable_header()->set_format_major(2);
  const LoadResult result = ParseProfile(Frame(chunk), "p");
  EXPECT_FALSE(result.profile.has_value());
  EXPECT_EQ(result.problem,
            "p has profile format 2, this memagent reads format 1: use the memagent that came with "
            "the agent that wrote it.");
}

TEST(Reader, ANewerMinorVersionIsReadWithAWarning) {
  v1::Chunk chunk;
  chunk.mutable_header()->set_magic(kFormatMagic);
  chunk.mutable_header()->set_format_major(1);
  chunk.mutable_header()->set_format_minor(9);
  const LoadResult result = ParseProfile(Frame(chunk), "p");
  ASSERT_TRUE(result.profile.has_value());
  EXPECT_EQ(result.warnings[0],
            "p was written by a newer agent: what this memagent does not know is left out.");
}

TEST(Reader, AWrongMagicIsNotOurs) {
  v1::Chunk chunk;
  chunk.mutable_header()->set_magic(1);
  chunk.mutable_header()->set_format_major(1);
  EXPECT_EQ(ParseProfile(Frame(chunk), "p").problem, "p is not a memagent profile.");
}

TEST(Reader, OtherFilesAreNotOurs) {
  for (const std::string text : {"PERFILE2", "\x1f\x8b\x08", "{}",
                                 "\x7f"
                                 "ELF",
                                 "\n\n\n"}) {
    EXPECT_EQ(ParseProfile(text, "p").problem, "p is not a memagent profile.") << text;
  }
}

TEST(Reader, TwoProfilesInOneFileReadAsTheFirst) {
  const std::string text = SmallProfile().text;
  const LoadResult result = ParseProfile(text + text, "p");
  ASSERT_TRUE(result.profile.has_value());
  EXPECT_EQ(result.profile->load.chunks_read, SmallProfile().ends.size());
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0], "p holds more than one profile: only the first is used.");
}

TEST(Reader, HostileReferencesAreSetToZeroAndCounted) {
  v1::Chunk stacks;
  stacks.mutable_call_stacks()->add_frame_module(77);
  stacks.mutable_call_stacks()->add_frame_address(1);
  stacks.mutable_call_stacks()->add_stack_parent(1);  // its own parent: a loop
  stacks.mutable_call_stacks()->add_stack_frame(99);
  v1::Chunk sites;
  sites.set_seq(1);
  v1::Site* site = sites.mutable_sites()->add_site();
  site->set_id(5);
  site->set_stack(1000);
  site->set_name(1000);
  site->set_module(1000);
  site->set_kind(static_cast<v1::RegionKind>(99));
  v1::Chunk totals;
  totals.set_seq(2);
  v1::SiteTotal* total = totals.mutable_totals()->add_site();
  total->set_site(5);
  total->add_cell_thread(1000);
  total->add_cell_cpu_node(0);
  total->add_cell_memory_node(0);
  total->add_cell_samples(3);
  total->add_code_frame(1000);
  total->add_code_samples(1);  // code_remote_samples is missing
  const LoadResult result = ParseProfile(Frame(stacks) + Frame(sites) + Frame(totals), "p");
  ASSERT_TRUE(result.profile.has_value());
  const Profile& profile = *result.profile;
  EXPECT_EQ(profile.frames[1].module, 0u);
  EXPECT_EQ(profile.stacks[1].parent, 0u);
  EXPECT_EQ(profile.stacks[1].frame, 0u);
  EXPECT_EQ(profile.FramesOf(1), std::vector<uint32_t>{0});
  const Site& read = profile.sites.at(5);
  EXPECT_EQ(read.site.stack(), 0u);
  EXPECT_EQ(read.site.name(), 0u);
  EXPECT_EQ(read.site.module(), 0u);
  EXPECT_EQ(read.site.kind(), v1::UNKNOWN);
  EXPECT_EQ(read.total.cell_thread(0), 0u);
  EXPECT_EQ(read.total.code_frame_size(), 0);
  EXPECT_EQ(profile.load.bad_references, 8u);
}

TEST(Reader, AHugeFirstIdAllocatesNothing) {
  v1::Chunk chunk;
  chunk.mutable_strings()->set_first(0xffffffff);
  chunk.mutable_strings()->add_text("x");
  const LoadResult result = ParseProfile(Frame(chunk), "p");
  ASSERT_TRUE(result.profile.has_value());
  EXPECT_EQ(result.profile->strings.size(), 1u);
  EXPECT_EQ(result.profile->load.bad_references, 1u);
}

// The viewer asks each node for each node: what no machine has is cut.
TEST(Reader, ListsOfNodesAndCallsAreCut) {
  v1::Chunk header;
  header.mutable_header()->set_magic(0x544e4547414d454d);
  header.mutable_header()->set_format_major(1);
  v1::Machine& machine = *header.mutable_header()->mutable_machine();
  for (uint32_t node = 0; node < 2000; ++node) machine.add_nodes()->set_id(node);
  machine.add_distances(10);
  v1::Chunk totals;
  totals.set_seq(1);
  for (int i = 0; i < 1500; ++i) totals.mutable_totals()->add_placement_call()->set_call("mbind");
  for (int i = 0; i < 1500; ++i) totals.mutable_totals()->add_node();
  const LoadResult result = ParseProfile(Frame(header) + Frame(totals), "p");
  ASSERT_TRUE(result.profile.has_value()) << result.problem;
  const Profile& profile = *result.profile;
  EXPECT_EQ(profile.header.machine().nodes_size(), 1024);
  EXPECT_EQ(profile.header.machine().distances_size(), 0);  // rows of another length
  EXPECT_EQ(profile.placement_calls.size(), 1024u);
  EXPECT_EQ(profile.placement_calls_left_out, 476u);
  EXPECT_EQ(profile.node_counters.size(), 1024u);
}

TEST(Reader, MissingFileAndFolderAreOneSentence) {
  EXPECT_EQ(LoadProfile("/nonexistent/x.memagent").problem,
            "Cannot read /nonexistent/x.memagent: No such file or directory.");
  EXPECT_EQ(LoadProfile("/").problem, "Cannot read /: Is a directory.");
}

TEST(Reader, AFileOnDiskReadsLikeItsBytes) {
  const std::string path = testing::TempDir() + "/reader_test.memagent";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  const std::string text = SmallProfile().text;
  ASSERT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
  std::fclose(file);
  const LoadResult result = LoadProfile(path);
  ASSERT_TRUE(result.profile.has_value()) << result.problem;
  EXPECT_TRUE(result.warnings.empty());
  EXPECT_EQ(result.profile->load.bytes, text.size());
  std::remove(path.c_str());
}

}  // namespace
}  // namespace memagent::profile
