// Totals: sites, what hardware told, events, accounting, own cost; read back by libprotobuf.
#include <array>
#include <string>
#include <vector>

#include "tests/unit/profile/writer_fixture.h"

namespace memagent::profile {
namespace {

TEST_F(WriterTest, SiteTotalKeepsEveryColumn) {
  const std::array<ThreadData, 1> threads = {ThreadData{10, "main", 1, true}};
  const std::array<FrameData, 2> frames = {FrameData{0, 0x10, true}, FrameData{0, 0x20, true}};
  const std::array<CellData, 2> cells = {CellData{1, NodeId{0}, NodeId::kUnknown, 5},
                                         CellData{0, NodeId{1}, NodeId{0}, 6}};
  const std::array<CodeData, 2> code = {CodeData{1, 9, 2}, CodeData{2, 2, 0}};
  const std::array<FirstTouchData, 1> touch = {FirstTouchData{1, NodeId{1}, 2, 64, 8}};
  const std::array<PagesData, 2> pages = {PagesData{NodeId{0}, 60}, PagesData{NodeId{1}, 4}};
  SiteTotalData total{3, 10, 9, 1000, 900, 500, 11, 7, 3, 1, cells, code, touch, pages, 2};
  writer_.WriteThreads(1, threads);
  writer_.WriteFrames(1, frames);
  writer_.BeginTotals(50, true);
  ASSERT_TRUE(writer_.AddSiteTotal(total));
  ASSERT_TRUE(writer_.EndTotals(AccountingData{}, OwnCostData{}));
  const Profile profile = Read();
  EXPECT_EQ(profile.checkpoint_time, 50u);
  EXPECT_TRUE(profile.final);
  const v1::SiteTotal& read = profile.sites.at(3).total;
  EXPECT_EQ(read.ShortDebugString(),
            "site: 3 allocations: 10 frees: 9 bytes_allocated: 1000 bytes_freed: 900 "
            "bytes_peak: 500 samples: 11 evidence_exact: 7 evidence_approximate: 3 "
            "evidence_pc_only: 1 cell_thread: 1 cell_thread: 0 cell_cpu_node: 0 cell_cpu_node: 1 "
            "cell_memory_node: -1 cell_memory_node: 0 cell_samples: 5 cell_samples: 6 "
            "code_frame: 1 code_frame: 2 code_samples: 9 code_samples: 2 code_remote_samples: 2 "
            "code_remote_samples: 0 first_touch { thread: 1 cpu_node: 1 frame: 2 pages: 64 "
            "faults: 8 } page_node: 0 page_node: 1 page_count: 60 page_count: 4 "
            "pages_not_present: 2");
}

TEST_F(WriterTest, WhatHardwareToldIsKept) {
  AccessKindData kind;
  kind.source = {MemoryOp::kLoad,
                 MemoryLevel::kDram,
                 Locality::kOtherNode,
                 Snoop::kMiss,
                 TlbLevel::kWalk,
                 true,
                 false,
                 true,
                 3};
  kind.page = aggregate::PageWitness::kOtherNode;
  kind.samples = 9;
  kind.latency = {8, 4000};
  kind.page_bytes = 4096;
  kind.instruction = {9, 5000};
  kind.tlb_refill = {1, 70};
  const std::array<LatencyData, 2> latency = {LatencyData{448, 5}, LatencyData{512, 3}};
  const std::array<CellData, 1> cells = {CellData{0, NodeId{0}, NodeId{1}, 9, {8, 4000}}};
  const std::array<CodeData, 1> code = {CodeData{0, 9, 9, {8, 4000}}};
  SiteTotalData total;
  total.site = 3;
  total.cells = cells;
  total.code = code;
  total.kinds = std::span(&kind, 1);
  total.latency = latency;
  writer_.BeginTotals(50, true);
  ASSERT_TRUE(writer_.AddSiteTotal(total));
  ASSERT_TRUE(writer_.EndTotals(AccountingData{}, OwnCostData{}));
  EXPECT_EQ(
      Read().sites.at(3).total.ShortDebugString(),
      "site: 3 cell_thread: 0 cell_cpu_node: 0 cell_memory_node: 1 cell_samples: 9 "
      "code_frame: 0 code_samples: 9 code_remote_samples: 9 kind { op: LOAD level: DRAM "
      "locality: OTHER_NODE snoop: SNOOP_MISS tlb: TLB_WALK locked: true blocked_address: "
      "true region: 3 page: PAGE_OTHER_NODE samples: 9 latency_samples: 8 latency_cycles: "
      "4000 page_bytes: 4096 instruction_samples: 9 instruction_cycles: 5000 tlb_refill_samples: 1 "
      "tlb_refill_cycles: 70 } latency_floor_cycles: 448 latency_floor_cycles: 512 "
      "latency_samples: 5 "
      "latency_samples: 3 cell_latency_samples: 8 cell_latency_cycles: 4000 "
      "code_latency_samples: 8 code_latency_cycles: 4000");
}

TEST_F(WriterTest, FatesOfCodeAreKept) {
  const std::array<FrameData, 1> frames = {FrameData{0, 0x10, true}};
  writer_.WriteFrames(1, frames);
  CodeFateData fate;
  fate.frame = 1;
  fate.counts = {10, 4, 1, 2, {}, 3, 5, 700};
  fate.counts.trapped[0] = 1;
  fate.counts.trapped[16] = 2;
  writer_.BeginTotals(50, true);
  ASSERT_TRUE(writer_.EndTotals(AccountingData{}, OwnCostData{}, {}, {}, std::span(&fate, 1)));
  const Profile profile = Read();
  ASSERT_EQ(profile.code_fates.size(), 1u);
  EXPECT_EQ(profile.code_fates[0].ShortDebugString(),
            "frame: 1 samples: 10 retired: 4 killed_before_map: 1 killed_after_map: 2 trap: 0 "
            "trap: 16 trapped: 1 trapped: 2 icache_misses: 3 stalled: 5 in_window: 700");
}

TEST_F(WriterTest, EventsAreThoseOfTheLastTotals) {
  const std::array<EventTotalData, 2> events = {
      EventTotalData{"cpu/mem-loads/", "type=4", "no physical address", 3, 100, 90, 80, 70, 6, 5},
      EventTotalData{"cpu/mem-stores/", "type=4", "", 3, 100, 0, 0, 0, 0, 0}};
  for (const size_t count : {size_t{1}, events.size()}) {
    writer_.BeginTotals(50, true);
    ASSERT_TRUE(
        writer_.EndTotals(AccountingData{}, OwnCostData{}, {}, std::span(events).first(count)));
  }
  const Profile profile = Read();
  ASSERT_EQ(profile.event_totals.size(), 2u);
  EXPECT_EQ(profile.event_totals[0].ShortDebugString(),
            "event: \"cpu/mem-loads/\" exact_attr: \"type=4\" loss: \"no physical address\" "
            "threads: 3 enabled_nanos: 100 running_nanos: 90 occurrences: 80 samples: 70 lost: 6 "
            "throttled: 5");
  EXPECT_EQ(profile.event_totals[1].event(), "cpu/mem-stores/");
}

TEST_F(WriterTest, EstimatesKeepTheirVariances) {
  SiteTotalData total;
  total.site = 3;
  total.sampled = {5, 4, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5};
  writer_.BeginTotals(50, true);
  ASSERT_TRUE(writer_.AddSiteTotal(total));
  total.site = 4;
  total.sampled = {};
  ASSERT_TRUE(writer_.AddSiteTotal(total));
  ASSERT_TRUE(writer_.EndTotals(AccountingData{}, OwnCostData{},
                                {512, 2048, 0.25, 0.5, 3, 4, 8, 100, 900}));
  const Profile profile = Read();
  EXPECT_EQ(profile.sites.at(3).total.sampled().ShortDebugString(),
            "picked_allocations: 5 picked_frees: 4 allocations_variance: 1.5 frees_variance: 2.5 "
            "bytes_allocated_variance: 3.5 bytes_freed_variance: 4.5 bytes_peak_variance: 5.5 "
            "blocks_live_variance: 6.5 bytes_live_variance: 7.5");
  EXPECT_FALSE(profile.sites.at(4).total.has_sampled());
  EXPECT_EQ(profile.economy.ShortDebugString(),
            "sample_bytes: 512 largest_sample_bytes: 2048 budget_share: 0.25 overhead_share: 0.5 "
            "budget_steps: 3 period_factor: 4 largest_period_factor: 8 samples_taken: 100 "
            "sample_weight_squares: 900");
}

TEST_F(WriterTest, AccountingNamesEveryReason) {
  AccountingData accounting;
  uint64_t next = 1;
  for (uint64_t& count : accounting.unattributed) count = next++;
  for (uint64_t& count : accounting.dropped) count = next++;
  for (uint64_t& count : accounting.faults_unattributed) count = next++;
  for (uint64_t& count : accounting.faults_dropped) count = next++;
  for (uint64_t& count : accounting.untracked) count = next++;
  accounting.samples_seen = 1000;
  accounting.attributed = 900;
  accounting.evidence = {1, 2, 3, 4};
  accounting.faults_seen = 50;
  accounting.faults_attributed = 40;
  writer_.BeginTotals(1, false);
  ASSERT_TRUE(writer_.EndTotals(accounting, OwnCostData{}));
  const v1::Accounting read = Read().accounting;
  EXPECT_EQ(read.samples_seen(), 1000u);
  EXPECT_EQ(read.attributed(), 900u);
  EXPECT_EQ(read.evidence_none(), 1u);
  EXPECT_EQ(read.evidence_exact(), 2u);
  EXPECT_EQ(read.evidence_approximate(), 3u);
  EXPECT_EQ(read.evidence_pc_only(), 4u);
  EXPECT_EQ(read.faults_seen(), 50u);
  EXPECT_EQ(read.faults_attributed(), 40u);
  next = 1;
  const auto check = [&next](const auto& written, const auto& reasons) {
    ASSERT_EQ(static_cast<size_t>(written.size()), reasons.size());
    for (size_t i = 0; i < reasons.size(); ++i) {
      EXPECT_EQ(written.Get(static_cast<int>(i)).reason(), reasons[i].name);
      EXPECT_EQ(written.Get(static_cast<int>(i)).count(), next++);
    }
  };
  check(read.unattributed(), kUnattributedReasons);
  check(read.dropped(), kDropReasons);
  check(read.faults_unattributed(), kUnattributedReasons);
  check(read.faults_dropped(), kDropReasons);
  check(read.untracked(), kUntrackedReasons);
}

TEST_F(WriterTest, OwnCostComesBack) {
  writer_.BeginTotals(1, false);
  const CostPartData part = {"stack", "allocation", CostBasis::kTried, 1, 2, 3, 4, 5};
  const HeldMemoryData held = {"index", 6, 7};
  ASSERT_TRUE(writer_.EndTotals(
      AccountingData{}, OwnCostData{1, 2, 3, 4, 5, 6, 7, 8, 9, "move_pages", 10, 11, 12, 13, 14, 15,
                                    std::span(&part, 1), std::span(&held, 1)}));
  EXPECT_EQ(Read().own_cost.ShortDebugString(),
            "drain_cpu_nanos: 1 bytes_mapped: 2 allocations_tracked: 3 live_blocks: 4 stacks: 5 "
            "stack_cache_hits: 6 stack_cache_misses: 7 checkpoints: 8 checkpoint_nanos: 9 "
            "page_node_rung: \"move_pages\" clock_error_nanos: 10 profile_bytes: 11 "
            "profile_rewrites: 12 process_cpu_nanos: 13 estimated_nanos: 14 "
            "estimated_error_nanos: 15 part { what: \"stack\" inside: \"allocation\" basis: TRIED "
            "count: 1 samples: 2 mean_picos: 3 total_nanos: 4 error_nanos: 5 } "
            "held { what: \"index\" mapped_bytes: 6 resident_bytes: 7 }");
}

}  // namespace
}  // namespace memagent::profile
