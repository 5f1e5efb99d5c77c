// Where memory was used and put, as it is written and read back.
#include <array>

#include "tests/unit/profile/writer_fixture.h"

namespace memagent::profile {
namespace {

using WriterPlacement = WriterTest;

TEST_F(WriterPlacement, SitesKeepPlacesSharingAndPolicies) {
  const std::array<CellData, 2> cells = {CellData{0, NodeId{0}, NodeId{1}, 5, {}, 2, 0x8001},
                                         CellData{0, NodeId{1}, NodeId{1}, 6}};
  const std::array<StripData, 2> strips = {StripData{0, NodeId{0}, NodeId{1}, 5},
                                           StripData{63, NodeId{1}, NodeId::kUnknown, 6}};
  const std::array<SharingData, 2> sharing = {SharingData{64, {9, 5, 6, 2}},
                                              SharingData{0, {10, 6, 7, 3}}};
  std::array<PolicyData, 2> policies = {PolicyData{"default", {}, false, 7},
                                        PolicyData{"bind", {}, true, 2}};
  policies[1].nodes.Set(0);
  policies[1].nodes.Set(65);
  const std::array<FirstTouchData, 1> touch = {FirstTouchData{0, NodeId{1}, 0, 64, 8, 0x3}};
  SiteTotalData total;
  total.site = 3;
  total.cells = cells;
  total.strips = strips;
  total.sharing = sharing;
  total.policies = policies;
  total.first_touch = touch;
  total.pages_moved = 4;
  total.huge_pages = 1;
  total.huge_pages_asked = 11;
  total.strip_samples_left_out = 12;
  total.touched_pages_told = 14;
  total.touched_pages_huge = 13;
  writer_.BeginTotals(50, true);
  ASSERT_TRUE(writer_.AddSiteTotal(total));
  ASSERT_TRUE(writer_.EndTotals(AccountingData{}, OwnCostData{}));
  const Profile profile = Read();
  EXPECT_EQ(profile.load.bad_references, 0u);
  EXPECT_EQ(
      profile.sites.at(3).total.ShortDebugString(),
      "site: 3 cell_thread: 0 cell_thread: 0 cell_cpu_node: 0 cell_cpu_node: 1 "
      "cell_memory_node: 1 cell_memory_node: 1 cell_samples: 5 cell_samples: 6 "
      "first_touch { cpu_node: 1 pages: 64 faults: 8 positions: 3 } "
      "cell_stores: 2 cell_stores: 0 cell_positions: 32769 cell_positions: 0 "
      "strip_position: 0 strip_position: 63 strip_cpu_node: 0 strip_cpu_node: 1 "
      "strip_memory_node: 1 strip_memory_node: -1 strip_samples: 5 strip_samples: 6 "
      "sharing { unit_bytes: 64 pairs: 9 same_thread: 5 same_node: 6 other_node_written: 2 } "
      "sharing { pairs: 10 same_thread: 6 same_node: 7 other_node_written: 3 } pages_moved: 4 "
      "policy { mode: \"default\" pages: 7 } "
      "policy { mode: \"bind\" node: 0 node: 65 of_thread: true pages: 2 } "
      "huge_pages: 1 huge_pages_asked: 11 strip_samples_left_out: 12 "
      "touched_pages_told: 14 touched_pages_huge: 13");
}

TEST_F(WriterPlacement, ThreadsKeepHowOftenTheyChangedNodes) {
  ThreadTotalData total;
  total.thread = 1;
  total.node_changes = 5;
  writer_.BeginTotals(50, true);
  ASSERT_TRUE(writer_.AddThreadTotal(total));
  ASSERT_TRUE(writer_.EndTotals(AccountingData{}, OwnCostData{}));
  EXPECT_EQ(Read().threads.at(1).total.node_changes(), 5u);
}

TEST_F(WriterPlacement, CallsAndNodesAreThoseOfTheLastTotals) {
  const std::array<ThreadData, 1> threads = {ThreadData{10, "main", 1, true}};
  const std::array<FrameData, 1> frames = {FrameData{0, 0x10, false}};
  writer_.WriteThreads(1, threads);
  writer_.WriteFrames(1, frames);
  std::array<PlacementCallData, 2> calls = {
      PlacementCallData{77, 1, "mbind", 1, 0x1000, 8192, 0, "bind", {}, 0, 2, 1, 22},
      PlacementCallData{78, 1, "sched_setaffinity", 1, 0, 0, 0, "", {}, -1, 1, 0, 0}};
  calls[0].nodes.Set(2);
  const std::array<NodeCountersData, 2> nodes = {NodeCountersData{0, 1 << 20, 9, 8, 7, 6},
                                                 NodeCountersData{3, 0, 0, 0, 0, 0}};
  for (const size_t count : {size_t{1}, calls.size()}) {
    const PlacementData placement = {std::span(calls).first(count), count - 1, nodes, 5, 6};
    writer_.BeginTotals(50, true);
    ASSERT_TRUE(writer_.EndTotals(AccountingData{}, OwnCostData{}, {}, {}, {}, placement));
  }
  const Profile profile = Read();
  ASSERT_EQ(profile.placement_calls.size(), 2u);
  EXPECT_EQ(profile.placement_calls[0].ShortDebugString(),
            "time: 77 thread: 1 call: \"mbind\" frame: 1 address: 4096 size_bytes: 8192 "
            "mode: \"bind\" node: 2 calls: 2 refused: 1 refused_errno: 22");
  EXPECT_EQ(profile.placement_calls[1].target_tid(), -1);
  EXPECT_EQ(profile.placement_calls_left_out, 1u);
  ASSERT_EQ(profile.node_counters.size(), 2u);
  EXPECT_EQ(profile.node_counters[0].ShortDebugString(),
            "least_free_bytes: 1048576 hit: 9 miss: 8 foreign: 7 interleave_hit: 6");
  EXPECT_EQ(profile.node_counters[1].node(), 3u);
  EXPECT_EQ(profile.numa_pages_migrated, 5u);
  EXPECT_EQ(profile.numa_hint_faults, 6u);
}

}  // namespace
}  // namespace memagent::profile
