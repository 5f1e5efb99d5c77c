// The other engines' samples: IBS with its registers, SPE out of AUX areas, ProfileMe.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "tests/support/ibs_linux.h"
#include "tests/support/spe_builder.h"
#include "tests/unit/import/import_fixture.h"

namespace memagent::importer {
namespace {

using testing::SpeBuilder;

Bytes PmuFeature(uint32_t type, std::string_view name) {
  Bytes bytes;
  testing::AppendU32(bytes, 1);
  testing::AppendU32(bytes, type);
  testing::AppendString(bytes, name);
  return bytes;
}

// --- PEBS ---

// The loads of perf_abi 7.1, recorded on a Xeon 8173M, and what perf says of them.
TEST(ImportPebs, SourcesOfASkylakeAreWhatPerfSays) {
  using Kind = v1::AccessKind;
  const std::tuple<uint64_t, Kind::Level, Kind::Tlb, bool, uint64_t> rows[] = {
      {0x11868100242, Kind::LINE_FILL_BUFFER, Kind::TLB_L1_OR_L2, false, 225},
      {0x10668100842, Kind::L3, Kind::TLB_L1_OR_L2, false, 117},
      {0x10650100842, Kind::L3, Kind::TLB_WALK, false, 240},
      {0x10268100142, Kind::L1, Kind::TLB_L1_OR_L2, false, 168},
      {0x1026a100142, Kind::L1, Kind::TLB_L1_OR_L2, true, 92},
      {0x10468100442, Kind::L2, Kind::TLB_L1_OR_L2, false, 77}};
  for (const auto& [source, level, tlb, locked, weight] : rows) {
    PerfDataBuilder file = IntelMachine();
    file.Add(Record(Sample{.address = 0x800100, .weight = weight, .source = source}));
    const profile::Profile profile = ImportBytes(file.File()).profile;
    const profile::Site* heap = SiteNamed(profile, "[heap]");
    ASSERT_TRUE(heap != nullptr && heap->total.kind_size() == 1) << std::hex << source;
    EXPECT_EQ(heap->total.kind(0).op(), Kind::LOAD);
    EXPECT_EQ(heap->total.kind(0).level(), level) << std::hex << source;
    EXPECT_EQ(heap->total.kind(0).tlb(), tlb) << std::hex << source;
    EXPECT_EQ(heap->total.kind(0).locked(), locked) << std::hex << source;
    EXPECT_EQ(heap->total.kind(0).latency_cycles(), weight);
  }
}

// --- IBS ---

constexpr uint64_t kIbsFields =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_RAW;

PerfDataBuilder GenoaMachine(uint64_t fields) {
  PerfDataBuilder file;
  perf_event_attr attr = {};
  attr.type = 11;
  attr.config = 1 << 19;
  attr.sample_period = 0x10000;
  attr.sample_type = fields;
  file.AddEvent(attr, {1}, "ibs_op//");
  file.SetFeature(9, testing::StringFeature("AuthenticAMD,25,17,1"));
  file.SetFeature(16, PmuFeature(11, "ibs_op"));
  return file;
}

RecordBuilder IbsSample(uint64_t address, const std::vector<uint8_t>& raw) {
  RecordBuilder record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
  record.U64(0x401000).U32(10).U32(10).U64(1000).U64(address);
  return record.U32(static_cast<uint32_t>(raw.size())).Append(raw.data(), raw.size());
}

// The registers of perf_abi 2.7, 1: a load from DRAM of the same node that took 476 cycles.
TEST(ImportIbs, RegistersTellLevelAndLatency) {
  testing::IbsRegisters registers;
  registers.data2 = 0x23;
  registers.data3 = 0x1dc14d700a1;
  PerfDataBuilder file = GenoaMachine(kIbsFields);
  file.Add(IbsSample(0x7f3b5784, testing::IbsRaw(registers)));
  const Import import = ImportBytes(file.File());
  ASSERT_EQ(import.profile.header.engines_size(), 1);
  EXPECT_EQ(import.profile.header.engines(0).kind(), v1::Engine::IBS);
  EXPECT_EQ(import.profile.header.engines(0).period_unit(), "ops");
  const profile::Site* site = SiteNamed(import.profile, "[unknown mapping]");
  ASSERT_NE(site, nullptr);
  ASSERT_EQ(site->total.kind_size(), 1);
  EXPECT_EQ(site->total.kind(0).op(), v1::AccessKind::LOAD);
  EXPECT_EQ(site->total.kind(0).level(), v1::AccessKind::DRAM);
  EXPECT_EQ(site->total.kind(0).locality(), v1::AccessKind::SAME_NODE);
  EXPECT_EQ(site->total.kind(0).latency_cycles(), 476u);
  ExpectAccounted(import.profile);
}

TEST(ImportIbs, InstructionsThatAccessNoMemoryAreNotMemory) {
  PerfDataBuilder file = GenoaMachine(kIbsFields);
  testing::IbsRegisters load;
  load.data3 = 0x60001;  // a load that hit L1, both addresses valid
  file.Add(IbsSample(0x1000, testing::IbsRaw(load)));
  file.Add(IbsSample(0, testing::IbsRaw({})));
  const Import import = ImportBytes(file.File());
  EXPECT_EQ(import.profile.accounting.attributed(), 1u);
  EXPECT_EQ(import.profile.accounting.unattributed(0).reason(), "not_memory");
  EXPECT_EQ(import.profile.accounting.unattributed(0).count(), 1u);
}

TEST(ImportIbs, WithoutRegistersOrDataSourceItIsNoMemoryEvent) {
  PerfDataBuilder file = GenoaMachine(PERF_SAMPLE_IP | PERF_SAMPLE_TID);
  EXPECT_NE(ImportBytes(file.File()).result.problem.find("no memory events"), std::string::npos);
}

// --- SPE ---

constexpr uint64_t kTraceFields =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
constexpr uint64_t kMidrNeoverseN1 = 0x413fd0c1;

RecordBuilder& AddTraceTrailer(RecordBuilder& record, int32_t tid, uint64_t time, uint32_t cpu) {
  record.U32(static_cast<uint32_t>(tid)).U32(static_cast<uint32_t>(tid)).U64(time);
  return record.U32(cpu).U32(0).U64(1);
}

PerfDataBuilder ArmMachine() {
  PerfDataBuilder file;
  perf_event_attr attr = {};
  attr.type = 9;
  attr.sample_period = 1024;
  attr.sample_type = kTraceFields;
  attr.sample_id_all = 1;
  file.AddEvent(attr, {1}, "arm_spe_0/load_filter=1/");
  file.SetFeature(6, testing::StringFeature("aarch64"));
  file.SetFeature(9, testing::StringFeature("0x00000000413fd0c1"));
  file.SetFeature(14, TwoNodes());
  file.Add(RecordBuilder(70).U32(4).U32(0).U64(9).U64(1));  // AUXTRACE_INFO
  file.Add(RecordBuilder(79).U64(0).U64(1).U64(1000));      // ns = ticks + 1000
  RecordBuilder comm(PERF_RECORD_COMM);
  file.Add(AddTraceTrailer(testing::AddName(comm.U32(10).U32(10), "app"), 10, 1, 0));
  RecordBuilder heap(PERF_RECORD_MMAP, 1 << 13);
  heap.U32(10).U32(10).U64(0x800000).U64(0x21000).U64(0);
  file.Add(AddTraceTrailer(testing::AddName(heap, "[heap]"), 10, 1, 0));
  return file;
}

void AddTrace(PerfDataBuilder& file, const std::vector<uint8_t>& bytes, int32_t tid, uint32_t cpu,
              uint64_t offset = 0) {
  file.Add(RecordBuilder(71)
               .U64(bytes.size())
               .U64(offset)
               .U64(0)
               .U32(0)
               .U32(static_cast<uint32_t>(tid))
               .U32(cpu)
               .U32(0));
  file.Add(Bytes(bytes));
}

std::vector<uint8_t> LoadFromHeap(uint64_t ticks) {
  SpeBuilder load;
  load.Pc(0x401000).Load().Virtual(0x800100).Source(0xe).TotalLatency(300).Events(0x1e);
  return load.Timestamp(ticks).bytes();
}

TEST(ImportSpe, AreaOfAThreadGivesItsAccesses) {
  PerfDataBuilder file = ArmMachine();
  AddTrace(file, LoadFromHeap(50), 10, UINT32_MAX);
  const Import import = ImportBytes(file.File());
  EXPECT_EQ(import.profile.header.engines(0).kind(), v1::Engine::SPE);
  const profile::Site* heap = SiteNamed(import.profile, "[heap]");
  ASSERT_NE(heap, nullptr);
  ASSERT_EQ(heap->total.kind_size(), 1);
  EXPECT_EQ(heap->total.kind(0).level(), v1::AccessKind::DRAM);
  EXPECT_EQ(heap->total.kind(0).latency_cycles(), 300u);
  EXPECT_EQ(import.profile.threads[heap->total.cell_thread(0)].start.tid(), 10);
  EXPECT_EQ(import.profile.raw_samples[0].time, 1050u);
  ExpectAccounted(import.profile);
}

// perf_abi 7.2: recorded on an Altra; perf says "L3 hit, Peer", 501 cycles.
TEST(ImportSpe, RecordOfAnAltraIsWhatPerfSays) {
  const std::vector<uint8_t> bytes = {
      0x49, 0x00, 0x52, 0x1e, 0x03, 0x99, 0x51, 0x01, 0x98, 0xf5, 0x01, 0xb2, 0x50, 0x9e, 0xd7,
      0xf1, 0x3e, 0x40, 0xff, 0x00, 0x9a, 0x01, 0x00, 0xb3, 0x50, 0x9e, 0xd7, 0x71, 0x3f, 0x40,
      0x00, 0x80, 0x43, 0x0c, 0x00, 0x00, 0x71, 0xb3, 0x9a, 0xe9, 0xbd, 0x3e, 0x07, 0x00, 0x00};
  PerfDataBuilder file = ArmMachine();
  AddTrace(file, bytes, 10, UINT32_MAX);
  const profile::Profile profile = ImportBytes(file.File()).profile;
  ASSERT_EQ(profile.raw_samples.size(), 1u);
  EXPECT_EQ(profile.raw_samples[0].data_src, 0x8688080842u);
  EXPECT_EQ(profile.raw_samples[0].latency_cycles, 501u);
  EXPECT_EQ(SamplesOf(profile, "[kernel]"), 1u);
}

TEST(ImportSpe, AreaOfACpuIsOfWhoRanThere) {
  PerfDataBuilder file = ArmMachine();
  RecordBuilder in(PERF_RECORD_SWITCH);
  file.Add(AddTraceTrailer(in, 10, 1040, 2));
  RecordBuilder out(PERF_RECORD_SWITCH, 1 << 13);
  file.Add(AddTraceTrailer(out, 10, 1060, 2));
  std::vector<uint8_t> bytes = LoadFromHeap(50);
  const std::vector<uint8_t> later = LoadFromHeap(70);
  bytes.insert(bytes.end(), later.begin(), later.end());
  AddTrace(file, bytes, -1, 2);
  const profile::Profile profile = ImportBytes(file.File()).profile;
  const profile::Site* heap = SiteNamed(profile, "[heap]");
  ASSERT_NE(heap, nullptr);
  EXPECT_EQ(heap->total.samples(), 1u);
  EXPECT_EQ(heap->total.cell_cpu_node(0), 1);
  EXPECT_EQ(profile.threads[0].total.accounting().samples_seen(), 1u) << "nobody ran there";
  ExpectAccounted(profile);
}

TEST(ImportSpe, ContextPacketsNameTheThread) {
  PerfDataBuilder file = ArmMachine();
  SpeBuilder load;
  load.Context(10).Pc(0x401000).Load().Virtual(0x800100).Timestamp(50);
  AddTrace(file, load.bytes(), -1, 0);
  EXPECT_EQ(SamplesOf(ImportBytes(file.File()).profile, "[heap]"), 1u);
}

// A thread's area: the kernel's AUX records tell on which CPU each stretch was written.
TEST(ImportSpe, StretchesOfAThreadsAreaHaveTheirCpu) {
  PerfDataBuilder file = ArmMachine();
  const std::vector<uint8_t> one = LoadFromHeap(50);
  std::vector<uint8_t> both = one;
  both.insert(both.end(), one.begin(), one.end());
  for (const uint64_t i : {uint64_t{0}, uint64_t{1}}) {
    RecordBuilder aux(PERF_RECORD_AUX);
    aux.U64(i * one.size()).U64(one.size()).U64(PERF_AUX_FLAG_TRUNCATED);
    file.Add(AddTraceTrailer(aux, 10, 1060, i == 0 ? 0 : 3));
  }
  AddTrace(file, both, 10, UINT32_MAX);
  const Import import = ImportBytes(file.File());
  const profile::Site* heap = SiteNamed(import.profile, "[heap]");
  ASSERT_NE(heap, nullptr);
  ASSERT_EQ(heap->total.cell_cpu_node_size(), 2);
  EXPECT_EQ(heap->total.cell_cpu_node(0), 0);
  EXPECT_EQ(heap->total.cell_cpu_node(1), 1);
  EXPECT_TRUE(HasNote(import.result, "The AUX area was full 2 times"));
}

// AmpereOne's source 7 is DRAM, Neoverse's is nothing known: perf_abi 4.5.
TEST(ImportSpe, SourcesAreReadByEachCpusMidr) {
  PerfDataBuilder file = ArmMachine();
  RecordBuilder info(70);
  info.U32(4).U32(0).U64(2).U64(4).U64(9).U64(2);
  const uint64_t midrs[] = {kMidrNeoverseN1, 0xc00fac40};
  for (uint64_t cpu = 0; cpu < 2; ++cpu) {
    info.U64(0x1010101010101010).U64(cpu).U64(3).U64(midrs[cpu]).U64(9).U64(256);
  }
  file.Add(info);
  for (const uint32_t cpu : {0u, 1u}) {
    SpeBuilder load;
    load.Context(10).Pc(0x401000).Load().Virtual(0x800100).Source(7).Timestamp(50);
    AddTrace(file, load.bytes(), -1, cpu);
  }
  const profile::Profile profile = ImportBytes(file.File()).profile;
  const profile::Site* heap = SiteNamed(profile, "[heap]");
  ASSERT_NE(heap, nullptr);
  ASSERT_EQ(heap->total.kind_size(), 2);
  EXPECT_EQ(heap->total.kind(0).level(), v1::AccessKind::LEVEL_UNKNOWN);
  EXPECT_EQ(heap->total.kind(1).level(), v1::AccessKind::DRAM);
}

TEST(ImportSpe, DamagedRecordsAreDroppedAndCounted) {
  PerfDataBuilder file = ArmMachine();
  std::vector<uint8_t> bytes = LoadFromHeap(50);
  const std::vector<uint8_t> good = bytes;
  bytes.insert(bytes.begin() + 9, 0xff);  // no packet starts so
  bytes.insert(bytes.end(), good.begin(), good.end());
  AddTrace(file, bytes, 10, UINT32_MAX);
  const Import import = ImportBytes(file.File());
  EXPECT_EQ(import.profile.accounting.attributed(), 1u);
  EXPECT_EQ(import.profile.accounting.dropped(0).count(), 1u);
  EXPECT_TRUE(HasNote(import.result, "1 bytes of the AUX area are no packets"));
  ExpectAccounted(import.profile);
}

// --- ProfileMe ---

TEST(ImportProfileMe, FatesAreCountedByCode) {
  PerfDataBuilder file;
  perf_event_attr attr = {};
  attr.type = PERF_TYPE_HARDWARE;
  attr.config = 2;  // instructions: the window counts cycles
  attr.precise_ip = 2;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
  file.AddEvent(attr, {1}, "instructions:pp");
  file.SetFeature(6, testing::StringFeature("alpha"));
  const uint64_t retired[] = {1, 0x120001234, 0, 1 << 4 | 1 << 1};
  const uint64_t missed[] = {1, 0x120001238, uint64_t{1} << 39 | uint64_t{6} << 34, 1 << 4};
  for (const auto& payload : {retired, missed}) {
    RecordBuilder sample(PERF_RECORD_SAMPLE);
    sample.U64(0x120009999).U32(10).U32(10).U64(5).U32(36).Append(payload, 32);
    file.Add(sample.U32(0));
  }
  const profile::Profile profile = ImportBytes(file.File()).profile;
  EXPECT_EQ(profile.header.engines(0).kind(), v1::Engine::PROFILEME);
  ASSERT_EQ(profile.code_fates.size(), 2u);
  std::map<uint64_t, v1::CodeFate> fates;  // by address
  for (const v1::CodeFate& fate : profile.code_fates) {
    fates[profile.frames[fate.frame()].address] = fate;
  }
  EXPECT_EQ(fates[0x120001234].retired(), 1u);
  ASSERT_EQ(fates[0x120001238].trap_size(), 1);
  EXPECT_EQ(fates[0x120001238].trap(0), 6u) << "a DTB miss";
  EXPECT_EQ(profile.accounting.unattributed(0).reason(), "no_data_address");
  EXPECT_EQ(profile.raw_samples[0].ip, 0x120001234u)
      << "the instruction's own, not the interrupt's";
  ExpectAccounted(profile);
}

}  // namespace
}  // namespace memagent::importer
