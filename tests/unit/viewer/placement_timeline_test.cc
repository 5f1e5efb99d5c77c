#include "viewer/placement_timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/unit/viewer/placed_site.h"
#include "viewer/detail_text.h"
#include "viewer/info_text.h"

namespace memagent::viewer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kStart = 1'000'000'000;  // of FillHeader

// One mbind of the site, of four calls two refused, and one thread pinned before.
PlacedSite WithCalls() {
  PlacedSite site;
  site.Use(0, 0, 1, 1000);
  v1::PlacementCall& bind = site.Call("mbind", 1);
  bind.set_time(kStart + 2'000'000'000);
  bind.set_site(1);
  bind.set_size_bytes(uint64_t{64} << 20);
  bind.set_mode("bind");
  bind.add_node(1);
  bind.set_calls(4);
  bind.set_refused(2);
  bind.set_refused_errno(EPERM);
  v1::PlacementCall& pin = site.Call("sched_setaffinity", 0);
  pin.set_time(kStart + 500'000'000);
  pin.add_node(0);
  pin.set_target_tid(4712);
  return site;
}

TEST(PlacementTimeline, CallsAreInTheOrderOfTime) {
  const View view = WithCalls().Build();
  EXPECT_THAT(
      TimelineOf(view, nullptr, 10, Terminal()),
      ElementsAre("after 500 ms: sched_setaffinity in worker-0 (4711), of 4712, node 0",
                  "after 2.00 s: mbind in worker-1 (4712), 64.0 MiB of S1, bind 1; 4 times, 2 "
                  "refused (Operation not permitted)"));
}

TEST(PlacementTimeline, SiteHasItsOwnCalls) {
  const View view = WithCalls().Build();
  const auto lines = TimelineOf(view, &view.sites.at(0), 10, Terminal());
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines.front(), HasSubstr("mbind in worker-1 (4712), 64.0 MiB, bind 1"));
}

TEST(PlacementTimeline, WhatIsOverAScreenIsCounted) {
  PlacedSite site = WithCalls();
  site.builder().totals().set_placement_calls_left_out(1000);
  EXPECT_THAT(TimelineOf(site.Build(), nullptr, 1, Terminal()).back(), "and 1,001 more");
}

TEST(PlacementTimeline, InfoAndTheSitesDetailShowIt) {
  const View view = WithCalls().Build();
  EXPECT_THAT(InfoText(view, Terminal()), HasSubstr("Calls that place memory or threads"));
  const std::string detail = DetailText(view, view.sites.at(0), "p", Terminal());
  EXPECT_THAT(detail, HasSubstr("mbind in worker-1"));
  EXPECT_THAT(detail, Not(HasSubstr("sched_setaffinity")));
}

TEST(PlacementTimeline, ProgramWithoutSuchCallsHasNone) {
  PlacedSite site;
  site.Use(0, 0, 1, 1000);
  EXPECT_THAT(InfoText(site.Build(), Terminal()), Not(HasSubstr("Calls that place")));
}

}  // namespace
}  // namespace memagent::viewer
