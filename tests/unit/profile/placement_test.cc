// What placement rules did: written, read back, and in words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "agent/profile/reader_placement.h"
#include "tests/unit/profile/writer_fixture.h"

namespace memagent::profile {
namespace {

using ::testing::HasSubstr;

v1::AppliedPlacement Placement() {
  v1::AppliedPlacement placement;
  placement.set_rule("S1@a=local");
  placement.set_sites("Make < main");
  placement.set_sites_matched(1);
  placement.set_blocks(1);
  placement.set_bytes(64 << 20);
  return placement;
}

TEST_F(WriterTest, AppliedPlacementsComeBack) {
  writer_.WriteHeader({});
  SiteData site;
  site.id = 4;
  site.kind = RegionKind::kHeap;
  writer_.WriteSites(std::vector<SiteData>{site});
  writer_.BeginTotals(1, true);
  const uint32_t sites[] = {4, 77};
  AppliedPlacementData data;
  data.rule = "S1@a=bind:0";
  data.sites = "Make < main";
  data.blocks = 3;
  data.bytes = 4096;
  data.too_small_blocks = 5;
  data.refused_calls = 6;
  data.refused_errno = EPERM;
  data.site_ids = sites;
  data.over_limit_blocks = 7;
  data.moved_blocks = 1;
  data.freed_blocks = 2;
  data.sites_matched = 2;
  writer_.AddAppliedPlacement(data);
  data.rule = "S2@a=local";
  writer_.AddAppliedPlacement(data);
  writer_.EndTotals({}, {});
  const LoadResult result = ParseProfile(sink_.text, "test");
  ASSERT_TRUE(result.profile);
  const Profile& profile = *result.profile;
  ASSERT_EQ(profile.applied_placements.size(), 2u);
  const v1::AppliedPlacement& read = profile.applied_placements[0];
  EXPECT_EQ(read.rule(), "S1@a=bind:0");
  EXPECT_EQ(read.sites(), "Make < main");
  EXPECT_EQ(read.blocks(), 3u);
  EXPECT_EQ(read.bytes(), 4096u);
  EXPECT_EQ(read.too_small_blocks(), 5u);
  EXPECT_EQ(read.refused_calls(), 6u);
  EXPECT_EQ(read.refused_errno(), EPERM);
  EXPECT_EQ(read.over_limit_blocks(), 7u);
  EXPECT_EQ(read.moved_blocks(), 1u);
  EXPECT_EQ(read.freed_blocks(), 2u);
  EXPECT_EQ(read.sites_matched(), 2u);
  ASSERT_EQ(read.site_size(), 2);
  EXPECT_EQ(read.site(0), 4u);
  EXPECT_EQ(read.site(1), 0u);  // no such site
  EXPECT_EQ(profile.load.bad_references, 2u);
}

TEST_F(WriterTest, AppliedPlacementsAreThoseOfTheLastTotals) {
  writer_.WriteHeader({});
  for (int i = 0; i < 2; ++i) {
    writer_.BeginTotals(static_cast<Nanos>(i + 1), i == 1);
    AppliedPlacementData data;
    data.rule = "S1@a=local";
    writer_.AddAppliedPlacement(data);
    writer_.EndTotals({}, {});
  }
  EXPECT_EQ(Read().applied_placements.size(), 1u);
}

TEST(PlacementText, WhatWasPlacedIsCounted) {
  EXPECT_TRUE(WasApplied(Placement()));
  EXPECT_EQ(PlacementText(Placement()), "S1@a=local placed 1 block, 64.0 MiB, of Make < main");
}

TEST(PlacementText, WhatWasNotPlacedIsAWarning) {
  v1::AppliedPlacement placement = Placement();
  placement.set_blocks(0);
  placement.set_bytes(0);
  placement.set_too_small_blocks(1234);
  EXPECT_FALSE(WasApplied(placement));
  EXPECT_THAT(PlacementText(placement), HasSubstr("1,234 blocks below 16 KiB stayed"));
  placement.set_sites_matched(0);
  EXPECT_EQ(PlacementText(placement), "S1@a=local matched no allocation of this run: Make < main");
}

TEST(PlacementText, RefusalsSayWhatTheKernelSaid) {
  v1::AppliedPlacement placement = Placement();
  placement.set_refused_calls(2);
  placement.set_refused_errno(EPERM);
  EXPECT_FALSE(WasApplied(placement));
  EXPECT_THAT(PlacementText(placement), HasSubstr("refused 2 calls: Operation not permitted"));
  placement.set_over_limit_blocks(1);
  EXPECT_THAT(PlacementText(placement), HasSubstr("too many were placed"));
}

}  // namespace
}  // namespace memagent::profile
