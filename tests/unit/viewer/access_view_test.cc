#include "viewer/access_view.h"

#include <gtest/gtest.h>

#include "tests/unit/viewer/sample_profiles.h"
#include "viewer/access_json.h"
#include "viewer/access_text.h"
#include "viewer/quality.h"

namespace memagent::viewer {
namespace {

using Kind = v1::AccessKind;

Kind& AddOne(v1::SiteTotal& total, Kind::Level level, Kind::Locality locality, Kind::Page page) {
  AddKind(total, Kind::LOAD, level, locality, page, 10, 0);
  return *total.mutable_kind(total.kind_size() - 1);
}

TEST(AccessView, WitnessesAreComparedOnlyWhereBothTell) {
  v1::SiteTotal total;
  AddOne(total, Kind::DRAM, Kind::SAME_NODE, Kind::PAGE_SAME_NODE);    // agree
  AddOne(total, Kind::DRAM, Kind::OTHER_NODE, Kind::PAGE_OTHER_NODE);  // agree
  AddOne(total, Kind::DRAM, Kind::OTHER_NODE, Kind::PAGE_SAME_NODE);   // do not
  AddOne(total, Kind::DRAM, Kind::OTHER_NODE, Kind::PAGE_UNKNOWN);
  AddOne(total, Kind::L1, Kind::SAME_CORE, Kind::PAGE_OTHER_NODE);  // the page is no matter there
  const AccessView view = MakeAccessView(total);
  EXPECT_EQ(view.samples, 50u);
  EXPECT_EQ(view.BothKnow(), 30u);
  EXPECT_EQ(view.Agree(), 20u);
  EXPECT_EQ(view.FromMemory(), 40u);
  EXPECT_EQ(view.FromFarMemory(), 20u);  // by the page; where that is unknown, by the hardware
}

TEST(AccessView, LatencyOfNearAndFarPagesIsApart) {
  v1::SiteTotal total;
  AddKind(total, Kind::LOAD, Kind::DRAM, Kind::SAME_NODE, Kind::PAGE_SAME_NODE, 30, 100);
  AddKind(total, Kind::LOAD, Kind::DRAM, Kind::OTHER_NODE, Kind::PAGE_OTHER_NODE, 10, 300);
  AddKind(total, Kind::STORE, Kind::L1, Kind::SAME_CORE, Kind::PAGE_SAME_NODE, 60, 0);
  const AccessView view = MakeAccessView(total);
  EXPECT_EQ(view.latency.samples, 40u);
  EXPECT_EQ(view.near.Mean(), 100.0);
  EXPECT_EQ(view.far.Mean(), 300.0);
  EXPECT_EQ(view.WithOp(MemoryOp::kStore), 60u);
}

TEST(AccessView, PercentilesAreWithinTheirBucket) {
  v1::SiteTotal total;
  total.add_latency_floor_cycles(448);  // 448 to 511
  total.add_latency_samples(100);
  const AccessView view = MakeAccessView(total);
  EXPECT_NEAR(*view.Percentile(0.5), 480, 1);
  EXPECT_NEAR(*view.Percentile(1), 512, 1);
  EXPECT_FALSE(MakeAccessView({}).Percentile(0.5).has_value());
  EXPECT_FALSE(MakeAccessView({}).latency.Mean().has_value());
}

TEST(AccessView, SumKeepsKindsThatSayTheSameTogether) {
  v1::SiteTotal total;
  AddKind(total, Kind::LOAD, Kind::DRAM, Kind::SAME_NODE, Kind::PAGE_SAME_NODE, 30, 100);
  AccessView sum = MakeAccessView(total);
  sum.Add(MakeAccessView(total));
  ASSERT_EQ(sum.kinds.size(), 1u);
  EXPECT_EQ(sum.kinds.begin()->second.samples, 60u);
  EXPECT_EQ(sum.kinds.begin()->second.latency.cycles, 6000u);
  EXPECT_EQ(sum.histogram, (std::vector<std::pair<uint32_t, uint64_t>>{{100, 60}}));
}

TEST(AccessView, NumbersOfANewerOrHostileFileAreUnknown) {
  v1::SiteTotal total;
  Kind& kind = AddOne(total, static_cast<Kind::Level>(99), static_cast<Kind::Locality>(-5),
                      static_cast<Kind::Page>(17));
  kind.set_op(static_cast<Kind::Op>(1 << 30));
  kind.set_samples(UINT64_MAX);
  kind.set_latency_samples(UINT64_MAX);
  kind.set_latency_cycles(UINT64_MAX);
  AddOne(total, Kind::DRAM, Kind::SAME_NODE, Kind::PAGE_SAME_NODE);
  AccessView view = MakeAccessView(total);
  view.Add(view);
  EXPECT_EQ(view.samples, UINT64_MAX);  // saturated
  EXPECT_EQ(LevelWord(view.kinds.begin()->second.source.level), "unknown");
  EXPECT_EQ(OpWord(view.kinds.begin()->second.source.op), "unknown");
}

TEST(AccessJson, SitesOfHardwareHaveLatencyAndWitnesses) {
  const View view = ViewOf(StencilBytes(2, true));
  const Json json = SiteJson(view, view.sites[0]);
  EXPECT_EQ(json["access"]["loads"], 5900);
  EXPECT_EQ(json["access"]["stores"], 900);
  EXPECT_NEAR(json["access"]["latency"]["near"]["mean"].get<double>(), 112, 0.1);
  EXPECT_EQ(json["access"]["witnesses"]["both_know"], 5900);
  EXPECT_EQ(json["access"]["witnesses"]["by_page_and_hardware"]["far"]["near"], 20);
  EXPECT_EQ(SummaryJson(view)["event_totals"][0]["samples"], 9962);
  const View software = ViewOf(StencilBytes(2));
  EXPECT_TRUE(SiteJson(software, software.sites[0])["access"].is_null());
}

TEST(AccessText, LatencyShareIsLessCertainThanItsSamples) {
  const View view = ViewOf(StencilBytes(2, true));
  const AccessView& cells = view.sites[1].access;
  const double share = Share(cells.latency.cycles, view.access.latency.cycles);
  const Interval by_latency = LatencyShareInterval(view, cells);
  const Interval by_count = WilsonInterval(
      static_cast<uint64_t>(share * static_cast<double>(view.access.latency.samples)),
      view.access.latency.samples);
  EXPECT_LT(by_latency.low, share);
  EXPECT_GT(by_latency.high, share);
  EXPECT_GT(by_latency.high - by_latency.low, by_count.high - by_count.low);
}

TEST(Quality, SilentThrottledAndSharedEventsAreNamed) {
  View view = ViewOf(StencilBytes(2, true));
  v1::EventTotal& event = view.profile.event_totals[0];
  EXPECT_EQ(JudgeQuality(view).word, ViewOf(StencilBytes(2, true)).quality.word);
  event.set_throttled(3);
  event.set_running_nanos(8'000'000'000);
  std::string text;
  for (const std::string& reason : JudgeQuality(view).reasons) text += reason + "\n";
  EXPECT_NE(text.find("ran only 50.0 % of the time"), std::string::npos) << text;
  EXPECT_NE(text.find("stopped ibs_op/cnt_ctl=1,swfilt=1/ 3 times"), std::string::npos) << text;
  event.set_running_nanos(0);
  EXPECT_EQ(JudgeQuality(view).word, Quality::Word::kPoor);
}

TEST(Quality, EventsOfTwoKindsOfCoresTakeTurns) {
  View view = ViewOf(StencilBytes(2, true));
  v1::EventTotal& big = view.profile.event_totals[0];
  big.set_event("cpu_core/mem-loads,ldlat=3/");
  big.set_running_nanos(10'000'000'000);
  v1::EventTotal small = big;
  small.set_event("cpu_atom/mem-loads,ldlat=3/");
  small.set_running_nanos(6'000'000'000);
  view.profile.event_totals.push_back(small);
  EXPECT_EQ(JudgeQuality(view).reasons, ViewOf(StencilBytes(2, true)).quality.reasons);
  view.profile.event_totals[1].set_event("cpu_atom/mem-stores/");
  EXPECT_EQ(JudgeQuality(view).word, Quality::Word::kFair);
}

}  // namespace
}  // namespace memagent::viewer
