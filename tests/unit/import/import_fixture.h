// Records of a small machine for tests of the import: two nodes, a program at 0x400000 and its
// mappings.
#ifndef MEMAGENT_TESTS_UNIT_IMPORT_IMPORT_FIXTURE_H_
#define MEMAGENT_TESTS_UNIT_IMPORT_IMPORT_FIXTURE_H_

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "agent/profile/reader.h"
#include "tests/support/perf_data_builder.h"
#include "tests/unit/profile/memory_sink.h"
#include "viewer/import/importer.h"

namespace memagent::importer {

using testing::Bytes;
using testing::PerfDataBuilder;
using testing::RecordBuilder;

inline constexpr uint64_t kAccessFields =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
    PERF_SAMPLE_CPU | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR;
inline constexpr uint64_t kLoadId = 101;
inline constexpr uint64_t kStoreId = 102;
inline constexpr uint64_t kRemoteDram = 0x13a68100042;  // of Skylake's PEBS: perf_abi 1.4
inline constexpr uint64_t kLocalDram = 0x1a68100042;
inline constexpr uint64_t kL1Hit = 0x268100142;
inline constexpr uint64_t kNoMemory = 0x1e05080021;

inline perf_event_attr PebsAttr(uint64_t config) {
  perf_event_attr attr = {};
  attr.type = PERF_TYPE_RAW;
  attr.config = config;
  attr.sample_period = 1009;
  attr.sample_type = kAccessFields;
  attr.sample_id_all = 1;
  attr.precise_ip = 2;
  attr.mmap_data = attr.mmap2 = attr.comm = attr.task = 1;
  return attr;
}

struct Sample {
  uint64_t ip = 0x401000;
  int32_t pid = 10;
  int32_t tid = 10;
  uint64_t time = 1000;
  uint64_t address = 0;
  uint64_t id = kLoadId;
  uint32_t cpu = 0;
  uint64_t weight = 7;
  uint64_t source = kL1Hit;
  uint64_t physical = 0;
  uint16_t misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP;
};

inline RecordBuilder Record(const Sample& s) {
  RecordBuilder record(PERF_RECORD_SAMPLE, s.misc);
  record.U64(s.ip).U32(static_cast<uint32_t>(s.pid)).U32(static_cast<uint32_t>(s.tid));
  record.U64(s.time).U64(s.address).U64(s.id).U32(s.cpu).U32(0);
  return record.U64(s.weight).U64(s.source).U64(s.physical);
}

// What sample_id_all adds to other records.
inline RecordBuilder& AddTrailer(RecordBuilder& record, int32_t tid, uint64_t time,
                                 uint32_t cpu = 0, uint64_t id = kLoadId) {
  record.U32(static_cast<uint32_t>(tid)).U32(static_cast<uint32_t>(tid)).U64(time);
  return record.U64(id).U32(cpu).U32(0);
}

struct Map {
  uint64_t start = 0;
  uint64_t size = 0;
  std::string_view path = "//anon";
  uint32_t protection = PROT_READ | PROT_WRITE;
  uint64_t offset = 0;
  uint64_t time = 1;
  int32_t pid = 10;
};

inline RecordBuilder Record(const Map& map) {
  const bool data = (map.protection & PROT_EXEC) == 0;
  RecordBuilder record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | (data ? 1 << 13 : 0));
  record.U32(static_cast<uint32_t>(map.pid)).U32(static_cast<uint32_t>(map.pid));
  record.U64(map.start).U64(map.size).U64(map.offset).U32(8).U32(1).U64(4711).U64(0);
  record.U32(map.protection).U32(MAP_PRIVATE);
  testing::AddName(record, map.path);
  return AddTrailer(record, map.pid, map.time);
}

inline RecordBuilder Comm(int32_t pid, int32_t tid, std::string_view name, uint64_t time,
                          bool exec = false) {
  RecordBuilder record(PERF_RECORD_COMM, exec ? 1 << 13 : 0);
  record.U32(static_cast<uint32_t>(pid)).U32(static_cast<uint32_t>(tid));
  testing::AddName(record, name);
  return AddTrailer(record, tid, time);
}

inline RecordBuilder Fork(int32_t pid, int32_t parent_pid, int32_t tid, uint64_t time) {
  RecordBuilder record(PERF_RECORD_FORK);
  for (const int32_t id : {pid, parent_pid, tid, parent_pid}) {
    record.U32(static_cast<uint32_t>(id));
  }
  return AddTrailer(record.U64(time), tid, time);
}

inline Bytes TwoNodes() {
  Bytes bytes;
  testing::AppendU32(bytes, 2);
  for (uint32_t node = 0; node < 2; ++node) {
    testing::AppendU32(bytes, node);
    testing::AppendU64(bytes, 1 << 20);  // KiB
    testing::AppendU64(bytes, 0);
    testing::AppendString(bytes, node == 0 ? "0-1" : "2-3");
  }
  return bytes;
}

// Blocks of 1 GiB: the first belongs to node 0, the next two to node 1.
inline Bytes MemoryOfTwoNodes() {
  Bytes bytes;
  for (const uint64_t word : {1, 1 << 30, 2, 0, 3, 3, 1, 1, 3, 3, 6}) {
    testing::AppendU64(bytes, word);
  }
  return bytes;
}

// A machine with a program: its code and data, its stack and heap, and an anonymous mapping.
inline PerfDataBuilder IntelMachine() {
  PerfDataBuilder file;
  file.AddEvent(PebsAttr(0x1cd), {kLoadId}, "cpu/mem-loads,ldlat=30/P");
  file.AddEvent(PebsAttr(0x82d0), {kStoreId}, "cpu/mem-stores/P");
  file.SetFeature(3, testing::StringFeature("box"));
  file.SetFeature(4, testing::StringFeature("6.1.0"));
  file.SetFeature(6, testing::StringFeature("x86_64"));
  file.SetFeature(9, testing::StringFeature("GenuineIntel,6,85,4"));
  file.SetFeature(14, TwoNodes());
  file.SetFeature(22, MemoryOfTwoNodes());
  file.Add(Comm(10, 10, "app", 1));
  const uint32_t code = PROT_READ | PROT_EXEC;
  file.Add(Record(Map{0x400000, 0x1000, "/nowhere/app", PROT_READ}));
  file.Add(Record(Map{0x401000, 0x1000, "/nowhere/app", code, 0x1000}));
  file.Add(Record(Map{0x402000, 0x1000, "/nowhere/app", PROT_READ | PROT_WRITE, 0x2000}));
  file.Add(Record(Map{0x403000, 0x1000}));
  file.Add(Record(Map{0x800000, 0x21000, "[heap]"}));
  file.Add(Record(Map{0x7f0000000000, 0x100000}));
  file.Add(Record(Map{0x7ffd00000000, 0x21000, "[stack]"}));
  return file;
}

struct Import {
  ImportResult result;
  profile::Profile profile;
};

inline Import ImportBytes(const Bytes& bytes, const ImportOptions& options = {}) {
  profile::MemorySink sink;
  Import import;
  import.result = ImportPerfData(bytes, "perf.data", options, sink);
  if (import.result.problem.empty()) import.profile = profile::MustParse(sink.text);
  return import;
}

inline const profile::Site* SiteNamed(const profile::Profile& profile, std::string_view name) {
  for (const auto& [id, site] : profile.sites) {
    if (profile.Text(site.site.name()) == name) return &site;
  }
  return nullptr;
}

inline uint64_t SamplesOf(const profile::Profile& profile, std::string_view name) {
  const profile::Site* site = SiteNamed(profile, name);
  return site == nullptr ? 0 : site->total.samples();
}

inline uint64_t SumOf(const google::protobuf::RepeatedPtrField<v1::ReasonCount>& counts) {
  uint64_t sum = 0;
  for (const auto& count : counts) sum += count.count();
  return sum;
}

// seen = attributed + unattributed + dropped, of the process and of all threads together.
inline void ExpectAccounted(const profile::Profile& profile) {
  const auto check = [](const v1::Accounting& a) {
    EXPECT_EQ(a.samples_seen(), a.attributed() + SumOf(a.unattributed()) + SumOf(a.dropped()));
  };
  check(profile.accounting);
  uint64_t seen = 0;
  for (const profile::Thread& thread : profile.threads) {
    check(thread.total.accounting());
    seen += thread.total.accounting().samples_seen();
  }
  EXPECT_EQ(seen, profile.accounting.samples_seen());
  uint64_t attributed = 0;
  for (const auto& [id, site] : profile.sites) attributed += site.total.samples();
  EXPECT_EQ(attributed, profile.accounting.attributed());
}

inline bool HasNote(const ImportResult& result, std::string_view part) {
  return std::any_of(result.notes.begin(), result.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

}  // namespace memagent::importer

#endif  // MEMAGENT_TESTS_UNIT_IMPORT_IMPORT_FIXTURE_H_
