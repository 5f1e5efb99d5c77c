#include "viewer/import/importer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/import/import_fixture.h"

namespace memagent::importer {
namespace {

PerfDataBuilder WithSamples(const std::vector<Sample>& samples) {
  PerfDataBuilder file = IntelMachine();
  for (const Sample& sample : samples) file.Add(Record(sample));
  return file;
}

const v1::AccessKind* OnlyKind(const profile::Profile& profile, std::string_view site) {
  const profile::Site* found = SiteNamed(profile, site);
  if (found == nullptr || found->total.kind_size() != 1) return nullptr;
  return &found->total.kind(0);
}

TEST(Import, AddressesAreBookedByWhatIsMappedThere) {
  const Import import = ImportBytes(WithSamples({{.address = 0x800100},
                                                 {.address = 0x7f0000000800},
                                                 {.address = 0x7f0000000900},
                                                 {.address = 0x7ffd00000010},
                                                 {.address = 0x402010},
                                                 {.address = 0x403010},
                                                 {.address = 0x500000000000}})
                                        .File());
  const profile::Profile& profile = import.profile;
  EXPECT_EQ(SamplesOf(profile, "[heap]"), 1u);
  EXPECT_EQ(SamplesOf(profile, "[anonymous mapping]"), 2u);
  EXPECT_EQ(SamplesOf(profile, "main"), 1u);
  EXPECT_EQ(SamplesOf(profile, "[data of app]"), 2u) << "its .bss is mapped behind its data";
  EXPECT_EQ(SamplesOf(profile, "[unknown mapping]"), 1u);
  EXPECT_TRUE(HasNote(import.result, "1 samples are in memory that no record tells of"));
  const profile::Site& mapping = *SiteNamed(profile, "[anonymous mapping]");
  EXPECT_EQ(mapping.site.kind(), v1::MMAP);
  EXPECT_EQ(mapping.site.address(), 0x7f0000000000u);
  EXPECT_EQ(mapping.site.size_bytes(), 0x100000u);
  EXPECT_EQ(SiteNamed(profile, "[data of app]")->site.kind(), v1::GLOBAL);
  ExpectAccounted(profile);
}

TEST(Import, PipeGivesTheSameAsAFile) {
  const PerfDataBuilder file = WithSamples({{.address = 0x800100}, {.address = 0x402010}});
  const Import from_file = ImportBytes(file.File());
  const Import from_pipe = ImportBytes(file.Pipe());
  EXPECT_EQ(from_file.profile.header.SerializeAsString(),
            from_pipe.profile.header.SerializeAsString());
  EXPECT_EQ(from_file.profile.accounting.SerializeAsString(),
            from_pipe.profile.accounting.SerializeAsString());
}

TEST(Import, HeaderTellsMachineEventAndOrigin) {
  const v1::Header header = ImportBytes(WithSamples({{.address = 1}}).File()).profile.header;
  EXPECT_EQ(header.imported_from(), "perf.data");
  EXPECT_EQ(header.process().pid(), 10u);
  EXPECT_EQ(header.process().host(), "box");
  EXPECT_EQ(header.machine().architecture(), "x86_64");
  EXPECT_EQ(header.machine().cpu_family(), 6u);
  EXPECT_EQ(header.machine().cpu_model_number(), 85u);
  ASSERT_EQ(header.machine().nodes_size(), 2);
  EXPECT_EQ(header.machine().nodes(1).cpu_list(), "2-3");
  ASSERT_EQ(header.engines_size(), 1);
  const v1::Engine& engine = header.engines(0);
  EXPECT_EQ(engine.kind(), v1::Engine::PEBS);
  EXPECT_TRUE(engine.in_use());
  EXPECT_EQ(engine.event(), "cpu/mem-loads,ldlat=30/P");
  EXPECT_EQ(engine.period(), 1009u);
  EXPECT_EQ(engine.period_unit(), "loads");
  EXPECT_NE(engine.exact_attr().find("config=0x1cd"), std::string::npos);
  EXPECT_TRUE(engine.knows_latency());
  EXPECT_TRUE(engine.knows_data_source());
  EXPECT_TRUE(engine.knows_loads_and_stores());
}

TEST(Import, LatencyLevelAndBothWitnessesAreKept) {
  // CPU 0 is of node 0; the second GiB of memory is node 1's.
  const Import import = ImportBytes(
      WithSamples(
          {{.address = 0x800100, .weight = 300, .source = kRemoteDram, .physical = 3u << 29}})
          .File());
  const v1::AccessKind* kind = OnlyKind(import.profile, "[heap]");
  ASSERT_NE(kind, nullptr);
  EXPECT_EQ(kind->op(), v1::AccessKind::LOAD);
  EXPECT_EQ(kind->level(), v1::AccessKind::DRAM);
  EXPECT_EQ(kind->locality(), v1::AccessKind::OTHER_NODE);
  EXPECT_EQ(kind->page(), v1::AccessKind::PAGE_OTHER_NODE);
  EXPECT_EQ(kind->latency_cycles(), 300u);
  const v1::SiteTotal& total = SiteNamed(import.profile, "[heap]")->total;
  EXPECT_EQ(total.cell_cpu_node(0), 0);
  EXPECT_EQ(total.cell_memory_node(0), 1);
  ASSERT_EQ(import.profile.raw_samples.size(), 1u);
  EXPECT_EQ(import.profile.raw_samples[0].ip, 0x401000u);
  EXPECT_EQ(import.profile.raw_samples[0].address, 0x800100u);
  EXPECT_EQ(import.profile.raw_samples[0].data_src, kRemoteDram);
  EXPECT_EQ(import.profile.raw_samples[0].latency_cycles, 300u);
}

TEST(Import, CodeIsTheFilesAddress) {
  const Import import = ImportBytes(WithSamples({{.ip = 0x401234, .address = 0x800100}}).File());
  const v1::SiteTotal& total = SiteNamed(import.profile, "[heap]")->total;
  ASSERT_EQ(total.code_frame_size(), 1);
  const profile::Frame& frame = import.profile.frames[total.code_frame(0)];
  EXPECT_EQ(frame.address, 0x1234u);
  EXPECT_TRUE(frame.is_instruction);
  EXPECT_EQ(import.profile.Text(import.profile.ModuleOf(total.code_frame(0)).path()),
            "/nowhere/app");
}

TEST(Import, RecordsAreReplayedByTimeNotByPlace) {
  PerfDataBuilder file = IntelMachine();
  file.Add(Record(Sample{.time = 500, .address = 0x10000000}));
  file.Add(Record(Sample{.time = 100, .address = 0x10000000}));
  file.Add(Record(Map{0x10000000, 0x1000, "/dev/shm/late", PROT_READ, 0, 300}));
  const profile::Profile profile = ImportBytes(file.File()).profile;
  EXPECT_EQ(SamplesOf(profile, "/dev/shm/late"), 1u);
  EXPECT_EQ(SamplesOf(profile, "[unknown mapping]"), 1u);
}

// The kernel calls the heap by its name only when it grows.
TEST(Import, HeapIsOneSiteBeforeAndAfterItGrows) {
  PerfDataBuilder file;
  file.AddEvent(PebsAttr(0x1cd), {kLoadId}, "cpu/mem-loads/P");
  file.Add(Record(Map{0x800000, 0x1000, "//anon"}));
  file.Add(Record(Sample{.time = 10, .address = 0x800100}));
  file.Add(Record(Map{0x800000, 0x2000, "[heap]", PROT_READ | PROT_WRITE, 0, 20}));
  file.Add(Record(Sample{.time = 30, .address = 0x800100}));
  const profile::Profile profile = ImportBytes(file.File()).profile;
  EXPECT_EQ(SamplesOf(profile, "[heap]"), 2u);
}

TEST(Import, ForkInheritsMappingsAndExecForgetsThem) {
  PerfDataBuilder file = IntelMachine();
  file.Add(Fork(20, 10, 20, 10));
  file.Add(Record(Sample{.pid = 20, .tid = 20, .time = 20, .address = 0x800100}));
  file.Add(Record(Map{0x900000, 0x1000, "[heap]", PROT_READ, 0, 30, 20}));
  file.Add(Record(Sample{.time = 40, .address = 0x900100}));  // of the parent, which has it not
  file.Add(Comm(20, 20, "other", 50, true));
  file.Add(Record(Sample{.pid = 20, .tid = 20, .time = 60, .address = 0x800100}));
  const profile::Profile profile = ImportBytes(file.File()).profile;
  EXPECT_EQ(SamplesOf(profile, "[heap]"), 1u);
  EXPECT_EQ(SamplesOf(profile, "[unknown mapping]"), 2u);
  EXPECT_EQ(profile.header.process().pid(), 0u) << "samples of two processes";
  ASSERT_EQ(profile.threads.size(), 3u);
  EXPECT_EQ(profile.Text(profile.threads[1].total.name()), "other");
  EXPECT_EQ(profile.Text(profile.threads[2].total.name()), "app");
}

TEST(Import, ThreadsOfOneProcessShareItsMappings) {
  PerfDataBuilder file = IntelMachine();
  file.Add(Fork(10, 10, 11, 10));
  file.Add(Comm(10, 11, "worker", 11));
  file.Add(Record(Sample{.tid = 11, .time = 20, .address = 0x800100}));
  const profile::Profile profile = ImportBytes(file.File()).profile;
  EXPECT_EQ(SamplesOf(profile, "[heap]"), 1u);
  ASSERT_EQ(profile.threads.size(), 2u);
  EXPECT_EQ(profile.threads[1].start.tid(), 11);
  EXPECT_EQ(profile.Text(profile.threads[1].start.name()), "worker");
  EXPECT_FALSE(profile.threads[1].start.main());
}

TEST(Import, OneProcessOfSeveralCanBeChosen) {
  PerfDataBuilder file = WithSamples({{.address = 0x800100}, {.pid = 20, .tid = 20, .address = 1}});
  const Import import = ImportBytes(file.File(), {.pid = 10});
  EXPECT_EQ(import.profile.accounting.samples_seen(), 1u);
  EXPECT_TRUE(HasNote(import.result, "1 samples of other processes are left out"));
  EXPECT_EQ(ImportBytes(file.File(), {.pid = 99}).result.problem,
            "perf.data has no memory access of process 99.");
}

TEST(Import, KernelsAccessesHaveASiteOfTheirOwn) {
  const Import import =
      ImportBytes(WithSamples({{.ip = 0xffffffff81000010, .address = 0xffff888000000000},
                               {.ip = 0xffffffff81000020, .address = 0x800100}})
                      .File());
  EXPECT_EQ(SamplesOf(import.profile, "[kernel]"), 2u);
  EXPECT_EQ(import.profile.accounting.evidence_pc_only(), 2u);
}

TEST(Import, SamplesOfNoMemoryAccessAreCounted) {
  const Import import =
      ImportBytes(WithSamples({{.address = 0x800100}, {.address = 0, .source = kNoMemory}}).File());
  ASSERT_EQ(import.profile.accounting.unattributed_size(), 1);
  EXPECT_EQ(import.profile.accounting.unattributed(0).reason(), "not_memory");
  ExpectAccounted(import.profile);
}

TEST(Import, MalformedSamplesAreDroppedAndCounted) {
  PerfDataBuilder file = WithSamples({{.address = 0x800100}, {.address = 0x800100, .id = 77}});
  file.Add(RecordBuilder(PERF_RECORD_SAMPLE).U64(1).U64(2));
  const Import import = ImportBytes(file.File());
  ASSERT_EQ(import.profile.accounting.dropped_size(), 1);
  EXPECT_EQ(import.profile.accounting.dropped(0).reason(), "malformed_record");
  EXPECT_EQ(import.profile.accounting.dropped(0).count(), 2u);
  ExpectAccounted(import.profile);
}

TEST(Import, LossesAndThrottlesAreKept) {
  PerfDataBuilder file = WithSamples({{.address = 0x800100}});
  RecordBuilder lost(PERF_RECORD_LOST);
  file.Add(AddTrailer(lost.U64(kLoadId).U64(5), 10, 30));
  RecordBuilder throttle(PERF_RECORD_THROTTLE);
  file.Add(AddTrailer(throttle.U64(40).U64(kLoadId).U64(kLoadId), 10, 40));
  const Import import = ImportBytes(file.File());
  ASSERT_EQ(import.profile.accounting.dropped_size(), 1);
  EXPECT_EQ(import.profile.accounting.dropped(0).reason(), "ring_lost");
  EXPECT_EQ(import.profile.accounting.dropped(0).count(), 5u);
  ASSERT_EQ(import.profile.event_totals.size(), 2u);
  EXPECT_EQ(import.profile.event_totals[0].samples(), 1u);
  EXPECT_EQ(import.profile.event_totals[0].lost(), 5u);
  EXPECT_EQ(import.profile.event_totals[0].throttled(), 1u);
  ExpectAccounted(import.profile);
}

// A perf that asks each event for its losses says them again, and more exactly, at the end.
TEST(Import, LossesToldTwiceCountOnce) {
  PerfDataBuilder file;
  perf_event_attr attr = PebsAttr(0x1cd);
  attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
  file.AddEvent(attr, {kLoadId}, "cpu/mem-loads/P");
  file.Add(Record(Sample{.address = 1}));
  RecordBuilder lost(PERF_RECORD_LOST);
  file.Add(AddTrailer(lost.U64(kLoadId).U64(9), 10, 30));
  RecordBuilder samples(PERF_RECORD_LOST_SAMPLES);
  file.Add(AddTrailer(samples.U64(4), 0, 50));
  RecordBuilder filtered(PERF_RECORD_LOST_SAMPLES, 1 << 15);
  file.Add(AddTrailer(filtered.U64(100), 0, 50));
  EXPECT_EQ(ImportBytes(file.File()).profile.accounting.dropped(0).count(), 4u);
}

TEST(Import, PageFaultsAreFirstTouches) {
  PerfDataBuilder file = IntelMachine();
  perf_event_attr faults = {};
  faults.type = PERF_TYPE_SOFTWARE;
  faults.config = PERF_COUNT_SW_PAGE_FAULTS;
  faults.sample_period = 1;
  faults.sample_type = kAccessFields;
  faults.sample_id_all = 1;
  file.AddEvent(faults, {103}, "page-faults");
  file.Add(Record(Sample{.ip = 0x401100, .time = 5, .address = 0x800000, .id = 103, .cpu = 2}));
  file.Add(Record(Sample{.time = 9, .address = 0x800100}));
  const Import import = ImportBytes(file.File());
  EXPECT_EQ(import.result.faults, 1u);
  const v1::SiteTotal& total = SiteNamed(import.profile, "[heap]")->total;
  ASSERT_EQ(total.first_touch_size(), 1);
  EXPECT_EQ(total.first_touch(0).pages(), 1u);
  EXPECT_EQ(total.first_touch(0).cpu_node(), 1);
  EXPECT_EQ(import.profile.frames[total.first_touch(0).frame()].address, 0x1100u);
  EXPECT_EQ(import.profile.header.engines(0).fault_period(), 1u);
  EXPECT_EQ(total.samples(), 1u);
}

TEST(Import, FilesWithoutMemoryAccessesSayWhatToRecord) {
  PerfDataBuilder cycles;
  perf_event_attr attr = {};
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
  cycles.AddEvent(attr, {1}, "cycles");
  cycles.Add(RecordBuilder(PERF_RECORD_SAMPLE).U64(1).U64(2));
  cycles.SetFeature(9, testing::StringFeature("AuthenticAMD,25,17,1"));
  EXPECT_EQ(
      ImportBytes(cycles.File()).result.problem,
      "perf.data has no memory events, only cycles: record them with perf mem record, or perf "
      "record -d -W -e ibs_op// -- PROGRAM.");
  EXPECT_NE(ImportBytes(IntelMachine().File()).result.problem.find("has no sample of"),
            std::string::npos);
  EXPECT_NE(ImportBytes(WithSamples({{.source = kNoMemory}}).File())
                .result.problem.find("none of the 1 samples of cpu/mem-loads,ldlat=30/P is of a "
                                     "memory access"),
            std::string::npos);
}

TEST(Import, NamesOfTheFileAreHarmlessInSentencesAndReadable) {
  PerfDataBuilder file = WithSamples({{.address = 0x800100}});
  file.SetFeature(3, testing::StringFeature("bad\xff\x1b[31mhost"));
  file.SetFeature(6, testing::StringFeature(std::string(100'000, 'a')));
  const Import import = ImportBytes(file.File());
  EXPECT_EQ(import.profile.header.process().host(), "bad??[31mhost");
  EXPECT_EQ(import.profile.header.machine().architecture().size(), 256u);
}

TEST(Import, RefusingSinkIsTold) {
  profile::MemorySink sink;
  sink.refuse = true;
  const ImportResult result =
      ImportPerfData(WithSamples({{.address = 1}}).File(), "perf.data", {}, sink);
  EXPECT_TRUE(result.problem.empty());
  EXPECT_FALSE(result.stored);
}

}  // namespace
}  // namespace memagent::importer
