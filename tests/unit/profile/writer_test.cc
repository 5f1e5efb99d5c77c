// Every kind of record but totals (writer_totals_test.cc), read back by libprotobuf.
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

}  // namespace
}  // namespace memagent::profile
