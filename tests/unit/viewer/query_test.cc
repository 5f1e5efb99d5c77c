#include "viewer/query.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/viewer/sample_profiles.h"
#include "viewer/quality.h"

namespace memagent::viewer {
namespace {

TEST(Query, SitesAreRankedBySamples) {
  const View view = ViewOf(StencilBytes(1));
  ASSERT_EQ(view.sites.size(), 13u);
  for (size_t i = 1; i < view.sites.size(); ++i) {
    EXPECT_GE(view.sites[i - 1].samples, view.sites[i].samples);
  }
  EXPECT_EQ(view.sites[0].id, "S1");
  EXPECT_EQ(view.sites[12].id, "S13");
}

TEST(Query, SharesArePartsOfMemorySamples) {
  const View view = ViewOf(StencilBytes(1));
  EXPECT_EQ(view.tally.MemorySamples(), 9962u - 3 - 400);
  EXPECT_DOUBLE_EQ(view.sites[0].share, 6800.0 / 9559);
  EXPECT_LT(view.sites[0].share_interval.low, view.sites[0].share);
  EXPECT_GT(view.sites[0].share_interval.high, view.sites[0].share);
}

TEST(Query, EverySampleHasAFate) {
  const View view = ViewOf(StencilBytes(1));
  EXPECT_TRUE(view.tally.Balances());
  const uint64_t in_sites =
      std::accumulate(view.sites.begin(), view.sites.end(), uint64_t{0},
                      [](uint64_t sum, const SiteView& site) { return sum + site.samples; });
  EXPECT_EQ(in_sites, view.tally.attributed);
}

TEST(Query, SiteIsNamedAfterTheFirstFrameThatIsNotPlumbing) {
  const View view = ViewOf(StencilBytes(1));
  EXPECT_EQ(view.sites[0].where.short_function, "Grid::Grid");
  EXPECT_EQ(view.sites[1].where.short_function, "read_cells");
  EXPECT_EQ(view.sites[2].where.short_function, "g_table");
  EXPECT_EQ(view.sites[2].kind, "global");
}

TEST(Query, SiteWhoseFramesAreAllPlumbingTakesTheInnermost) {
  ProfileBuilder b;
  FillHeader(b, 1);
  const uint32_t module = b.Module("/lib/x.so");
  b.Site(v1::HEAP, b.Stack({b.Frame(module, 1, "malloc"), b.Frame(module, 2, "_ZSt1fv")}));
  EXPECT_EQ(ViewOf(b.Bytes()).sites[0].where.short_function, "malloc");
}

// A library without symbols in a thread: not the thread's start in libc, which allocated nothing.
TEST(Query, SiteWithoutOwnNamesIsAPlaceInTheInnermostLibrary) {
  ProfileBuilder b;
  FillHeader(b, 1);
  const uint32_t stripped = b.Module("/lib/liblzma.so.5");
  const uint32_t libc = b.Module("/lib/libc.so.6");
  b.Site(v1::HEAP, b.Stack({b.Frame(libc, 1, "calloc"), b.Frame(stripped, 0x1581d, ""),
                            b.Frame(stripped, 0x56c9, ""), b.Frame(libc, 2, "start_thread")}));
  const CodeLine where = ViewOf(b.Bytes()).sites[0].where;
  EXPECT_EQ(where.short_function, "");
  EXPECT_EQ(where.address, 0x1581du);
}

TEST(Query, RemoteNeedsBothNodesKnownAndDifferent) {
  const View view = ViewOf(StencilBytes(2));
  EXPECT_EQ(view.sites[0].remote_samples, 3400u);
  EXPECT_EQ(view.sites[0].located_samples, 6800u);
  EXPECT_EQ(view.sites[2].located_samples, 0u);
  EXPECT_EQ(view.remote_samples, 3400u);
}

TEST(Query, InstructionsOfOneLineAreOneRow) {
  ProfileBuilder b;
  FillHeader(b, 1);
  const uint32_t module = b.Module("/bin/app");
  v1::SiteTotal& total = b.SiteTotal(b.Site(v1::HEAP, 0));
  AddCode(total, b.Instruction(module, 0x10, "loop"), 5, 0);
  AddCode(total, b.Instruction(module, 0x14, "loop"), 7, 0);
  AddCode(total, b.Instruction(module, 0x20, ""), 1, 0);
  AddCode(total, b.Instruction(module, 0x24, ""), 2, 0);
  const View view = ViewOf(b.Bytes());
  ASSERT_EQ(view.sites[0].code.size(), 3u);
  EXPECT_EQ(view.sites[0].code[0].samples, 12u);
}

TEST(Query, ProfileWithoutTotalsGivesAnEmptyView) {
  ProfileBuilder b;
  b.OmitFooter();
  const View view = ViewOf(b.Bytes());
  EXPECT_TRUE(view.sites.empty());
  EXPECT_EQ(view.engine, "none");
  EXPECT_EQ(view.quality.word, Quality::Word::kPoor);
}

TEST(View, TimeInHooksIsTheirSamplesTimesThePeriod) {
  View view;
  view.tally.dropped = {{"ring_lost", "", 5}, {"agent_code", "", 7}};
  EXPECT_EQ(view.HookNanos(), 0u);  // no engine
  view.engine_record.emplace();
  view.engine_record->set_period(1000);
  EXPECT_EQ(view.HookNanos(), 0u);  // a period in operations is no time
  view.engine_record->set_period_unit("ns");
  EXPECT_EQ(view.HookNanos(), 7000u);
  view.engine_record->set_period(~uint64_t{0});
  EXPECT_EQ(view.HookNanos(), 0u);
}

TEST(View, TimeInHooksIsTheTimedOneWhereThereIsOne) {
  View view;
  const auto add = [&](const char* what, uint64_t nanos) {
    auto* part = view.profile.own_cost.add_part();
    part->set_what(what);
    part->set_total_nanos(nanos);
  };
  add("allocation", 100);
  add("free", 20);
  add("new_stack", 3);
  add("drain", 5000);
  add("stack_look_up", 60);
  EXPECT_EQ(view.HookNanos(), 123u);
  add("free", ~uint64_t{0});
  EXPECT_EQ(view.HookNanos(), 0u);
}

TEST(Quality, ManySamplesFewLossesIsGood) {
  EXPECT_EQ(ViewOf(StencilBytes(1)).quality.word, Quality::Word::kGood);
}

TEST(Quality, LostSamplesAreNamed) {
  View view = ViewOf(StencilBytes(1));
  view.tally.dropped = {{"ring_lost", "", 2000}};
  view.tally.seen += 1997;
  const Quality quality = JudgeQuality(view);
  EXPECT_EQ(quality.word, Quality::Word::kPoor);
  ASSERT_EQ(quality.reasons.size(), 1u);
  EXPECT_NE(quality.reasons[0].find("16.7 % of the samples were lost"), std::string::npos);
}

TEST(Quality, UnbalancedAccountingIsPoor) {
  View view = ViewOf(StencilBytes(1));
  view.tally.seen += 1;
  EXPECT_EQ(JudgeQuality(view).word, Quality::Word::kPoor);
}

TEST(Quality, MissingFooterIsFair) {
  View view = ViewOf(StencilBytes(1));
  view.profile.footer.reset();
  EXPECT_EQ(JudgeQuality(view).word, Quality::Word::kFair);
}

}  // namespace
}  // namespace memagent::viewer
