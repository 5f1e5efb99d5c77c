// Every kind of record that the agent can write, read back by libprotobuf.
#include <array>
#include <string>
#include <vector>

#include "tests/unit/profile/writer_fixture.h"

namespace memagent::profile {
namespace {

TEST_F(WriterTest, WholeFileIsAProfileFile) {
  ASSERT_TRUE(writer_.WriteHeader(HeaderData{}));
  ASSERT_TRUE(writer_.WriteFooter(FooterData{5, "exit"}));
  v1::ProfileFile file;
  ASSERT_TRUE(file.ParseFromString(sink_.text));
  ASSERT_EQ(file.chunk_size(), 2);
  EXPECT_EQ(file.chunk(0).seq(), 0u);
  EXPECT_EQ(file.chunk(0).header().magic(), kFormatMagic);
  EXPECT_EQ(file.chunk(1).seq(), 1u);
  EXPECT_EQ(file.chunk(1).footer().how(), "exit");
  EXPECT_EQ(file.chunk(1).footer().chunks(), 2u);
}

TEST_F(WriterTest, MagicReadsMemagentInTheFile) {
  ASSERT_TRUE(writer_.WriteHeader(HeaderData{}));
  EXPECT_NE(sink_.text.find("MEMAGENT"), std::string::npos);
}

TEST_F(WriterTest, HeaderKeepsProcessAndOptions) {
  const std::array<std::string_view, 3> arguments = {"./app", "", "caf\xe9"};  // not UTF-8
  HeaderData header;
  header.agent_version = "0.1.0";
  header.start_unix_nanos = 1'700'000'000'000'000'000;
  header.start_monotonic = 42;
  header.options = "rate=1000";
  header.process = {100, 99, "/usr/bin/app", arguments, "/home/me", "host7", true};
  ASSERT_TRUE(writer_.WriteHeader(header));
  const v1::Header read = Read().header;
  EXPECT_EQ(read.format_major(), kFormatMajor);
  EXPECT_EQ(read.agent_version(), "0.1.0");
  EXPECT_EQ(read.start_unix_nanos(), 1'700'000'000'000'000'000u);
  EXPECT_EQ(read.start_monotonic_nanos(), 42u);
  EXPECT_EQ(read.options(), "rate=1000");
  EXPECT_EQ(read.process().pid(), 100u);
  EXPECT_EQ(read.process().parent_pid(), 99u);
  EXPECT_EQ(read.process().executable(), "/usr/bin/app");
  ASSERT_EQ(read.process().arguments_size(), 3);
  EXPECT_EQ(read.process().arguments(1), "");
  EXPECT_EQ(read.process().arguments(2), "caf\xe9");
  EXPECT_EQ(read.process().working_directory(), "/home/me");
  EXPECT_EQ(read.process().host(), "host7");
  EXPECT_TRUE(read.process().forked_without_exec());
}

TEST_F(WriterTest, HeaderKeepsMachineAndKernel) {
  const std::array<NodeData, 2> nodes = {NodeData{0, "0-3", 1 << 30}, NodeData{1, "", 2 << 20}};
  const std::array<uint32_t, 4> distances = {10, 21, 21, 10};
  const std::array<int32_t, 3> cpu_nodes = {0, 0, -1};
  HeaderData header;
  header.machine = {"x86_64", "Model Z", 6,  85,    7,         "0x1",
                    "kvm",    4096,      64, nodes, distances, cpu_nodes};
  header.kernel = {"6.1.0", -1, 100000, 516, "madvise", -1};
  ASSERT_TRUE(writer_.WriteHeader(header));
  const v1::Header read = Read().header;
  const v1::Machine& machine = read.machine();
  EXPECT_EQ(machine.architecture(), "x86_64");
  EXPECT_EQ(machine.cpu_model(), "Model Z");
  EXPECT_EQ(machine.cpu_family(), 6u);
  EXPECT_EQ(machine.cpu_model_number(), 85u);
  EXPECT_EQ(machine.cpu_stepping(), 7u);
  EXPECT_EQ(machine.microcode(), "0x1");
  EXPECT_EQ(machine.hypervisor(), "kvm");
  EXPECT_EQ(machine.page_bytes(), 4096u);
  EXPECT_EQ(machine.cache_line_bytes(), 64u);
  ASSERT_EQ(machine.nodes_size(), 2);
  EXPECT_EQ(machine.nodes(0).cpu_list(), "0-3");
  EXPECT_EQ(machine.nodes(1).id(), 1u);
  EXPECT_EQ(machine.nodes(1).memory_total_bytes(), 2u << 20);
  EXPECT_EQ(machine.distances(1), 21u);
  EXPECT_EQ(machine.cpu_nodes(2), -1);
  EXPECT_EQ(read.kernel().release(), "6.1.0");
  EXPECT_EQ(read.kernel().perf_event_paranoid(), -1);
  EXPECT_EQ(read.kernel().max_sample_rate(), 100000u);
  EXPECT_EQ(read.kernel().mlock_kib(), 516u);
  EXPECT_EQ(read.kernel().transparent_hugepage(), "madvise");
  EXPECT_EQ(read.kernel().numa_balancing(), -1);
}

TEST_F(WriterTest, HeaderKeepsEveryEngineAlsoAnEmptyOne) {
  std::array<EngineData, 2> engines;
  engines[1] = {EngineKind::kSoftware,
                true,
                "software/cpu-clock",
                1000000,
                "ns",
                1000.0,
                "a=1",
                true,
                true,
                true,
                "because",
                -2,
                "do this",
                9,
                10,
                3};
  HeaderData header;
  header.engines = engines;
  ASSERT_TRUE(writer_.WriteHeader(header));
  const v1::Header read = Read().header;
  ASSERT_EQ(read.engines_size(), 2);
  EXPECT_EQ(read.engines(0).kind(), v1::Engine::NONE);
  const v1::Engine& engine = read.engines(1);
  EXPECT_EQ(engine.kind(), v1::Engine::SOFTWARE);
  EXPECT_TRUE(engine.in_use());
  EXPECT_EQ(engine.event(), "software/cpu-clock");
  EXPECT_EQ(engine.period(), 1000000u);
  EXPECT_EQ(engine.period_unit(), "ns");
  EXPECT_EQ(engine.rate_hz(), 1000.0);
  EXPECT_EQ(engine.exact_attr(), "a=1");
  EXPECT_TRUE(engine.knows_latency());
  EXPECT_TRUE(engine.knows_data_source());
  EXPECT_TRUE(engine.knows_loads_and_stores());
  EXPECT_EQ(engine.refused(), "because");
  EXPECT_EQ(engine.refused_errno(), -2);
  EXPECT_EQ(engine.remedy(), "do this");
  EXPECT_EQ(engine.skid_ticks_on_next(), 9u);
  EXPECT_EQ(engine.skid_ticks_total(), 10u);
  EXPECT_EQ(engine.fault_period(), 3u);
}

TEST_F(WriterTest, ModulesAndTheirUnloadComeBack) {
  const std::array<ModuleData, 2> modules = {
      ModuleData{"/lib/a.so", std::string_view("\0\x01\xff", 3), 0x1000, 0x2000, 0x800, 7, 0},
      ModuleData{}};
  ASSERT_TRUE(writer_.WriteModules(1, modules));
  const std::array<ModuleUnloadData, 1> unloads = {ModuleUnloadData{2, 99}};
  ASSERT_TRUE(writer_.WriteModuleUnloads(unloads));
  const Profile profile = Read();
  ASSERT_EQ(profile.modules.size(), 3u);
  EXPECT_EQ(profile.Text(profile.modules[1].path()), "/lib/a.so");
  EXPECT_EQ(profile.modules[1].build_id(), std::string("\0\x01\xff", 3));
  EXPECT_EQ(profile.modules[1].start(), 0x1000u);
  EXPECT_EQ(profile.modules[1].end(), 0x2000u);
  EXPECT_EQ(profile.modules[1].load_bias(), 0x800u);
  EXPECT_EQ(profile.modules[1].loaded(), 7u);
  EXPECT_EQ(profile.modules[1].unloaded(), 0u);
  EXPECT_EQ(profile.modules[2].unloaded(), 99u);
}

TEST_F(WriterTest, ThreadsComeBackAndTheirTotalsWin) {
  const std::array<ThreadData, 2> threads = {ThreadData{10, "main", 1, true}, ThreadData{}};
  ASSERT_TRUE(writer_.WriteThreads(1, threads));
  const std::array<uint64_t, 2> by_node = {0, 12};
  ThreadTotalData total;
  total.thread = 1;
  total.accounting.samples_seen = 12;
  total.accounting.attributed = 12;
  total.time_enabled_nanos = 100;
  total.time_running_nanos = 90;
  total.throttled = 3;
  total.samples_by_node = by_node;
  total.ended = 77;
  total.name = "renamed";
  total.unobserved_nanos = 5;
  total.not_sampled = "no permission";
  writer_.BeginTotals(50, false);
  ASSERT_TRUE(writer_.AddThreadTotal(total));
  ASSERT_TRUE(writer_.EndTotals(AccountingData{}, OwnCostData{}));
  const Profile profile = Read();
  ASSERT_EQ(profile.threads.size(), 3u);
  EXPECT_EQ(profile.threads[1].start.tid(), 10);
  EXPECT_TRUE(profile.threads[1].start.main());
  EXPECT_EQ(profile.threads[1].start.started(), 1u);
  EXPECT_EQ(profile.Text(profile.threads[1].start.name()), "main");
  const v1::ThreadTotal& read = profile.threads[1].total;
  EXPECT_EQ(read.accounting().samples_seen(), 12u);
  EXPECT_EQ(read.time_enabled_nanos(), 100u);
  EXPECT_EQ(read.time_running_nanos(), 90u);
  EXPECT_EQ(read.throttled(), 3u);
  ASSERT_EQ(read.samples_by_node_size(), 2);
  EXPECT_EQ(read.samples_by_node(1), 12u);
  EXPECT_EQ(read.ended(), 77u);
  EXPECT_EQ(profile.Text(read.name()), "renamed");
  EXPECT_EQ(read.unobserved_nanos(), 5u);
  EXPECT_EQ(read.not_sampled(), "no permission");
}

TEST_F(WriterTest, StacksOverSeveralChunksKeepTheirIds) {
  std::vector<FrameData> frames;
  std::vector<StackData> stacks;
  for (uint32_t i = 1; i <= 10000; ++i) {
    frames.push_back(FrameData{0, 0x1000u + i, i % 2 == 0});
    stacks.push_back(StackData{i - 1, i});
  }
  ASSERT_TRUE(writer_.WriteFrames(1, frames));
  ASSERT_TRUE(writer_.WriteStacks(1, stacks));
  EXPECT_GT(sink_.ends.size(), 3u);
  const Profile profile = Read();
  ASSERT_EQ(profile.frames.size(), 10001u);
  EXPECT_EQ(profile.frames[10000].address, 0x1000u + 10000);
  EXPECT_TRUE(profile.frames[10000].is_instruction);
  EXPECT_FALSE(profile.frames[9999].is_instruction);
  ASSERT_EQ(profile.stacks.size(), 10001u);
  EXPECT_EQ(profile.FramesOf(3), (std::vector<uint32_t>{3, 2, 1}));
}

TEST_F(WriterTest, SitesComeBackWithTheirNames) {
  const std::array<ModuleData, 1> modules = {ModuleData{"/bin/a", "", 0, 0, 0, 0, 0}};
  writer_.WriteModules(1, modules);
  const std::array<SiteData, 2> sites = {
      SiteData{7, RegionKind::kGlobal, 0, "table", 1, 0x4010, 800, false},
      SiteData{4000000, RegionKind::kHeap, 0, "", 0, 0, 0, true}};
  ASSERT_TRUE(writer_.WriteSites(sites));
  const Profile profile = Read();
  ASSERT_EQ(profile.sites.size(), 2u);
  const v1::Site& global = profile.sites.at(7).site;
  EXPECT_EQ(global.kind(), v1::GLOBAL);
  EXPECT_EQ(profile.Text(global.name()), "table");
  EXPECT_EQ(global.module(), 1u);
  EXPECT_EQ(global.address(), 0x4010u);
  EXPECT_EQ(global.size_bytes(), 800u);
  EXPECT_EQ(profile.sites.at(4000000).site.kind(), v1::HEAP);
  EXPECT_TRUE(profile.sites.at(4000000).site.stack_cut());
}

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
