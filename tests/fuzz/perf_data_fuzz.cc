// A perf.data file of any bytes: from the container to the profile. What comes out is a profile
// that the reader takes whole, with every sample accounted for, or one sentence.
#include <cstdlib>
#include <string>

#include "agent/profile/reader.h"
#include "tests/support/fuzz_seeds.h"
#include "tests/support/ibs_linux.h"
#include "tests/support/perf_data_builder.h"
#include "tests/support/spe_builder.h"
#include "viewer/import/importer.h"

namespace {

using memagent::testing::Bytes;
using memagent::testing::PerfDataBuilder;
using memagent::testing::RecordBuilder;

class StringSink final : public memagent::profile::Sink {
 public:
  bool Append(std::span<const char> bytes) override {
    text.append(bytes.data(), bytes.size());
    return true;
  }
  std::string text;
};

uint64_t SumOf(const google::protobuf::RepeatedPtrField<memagent::v1::ReasonCount>& counts) {
  uint64_t sum = 0;
  for (const auto& count : counts) sum += count.count();
  return sum;
}

void CheckProfile(const std::string& text) {
  const memagent::profile::LoadResult loaded = memagent::profile::ParseProfile(text, "fuzz");
  if (!loaded.profile || !loaded.warnings.empty()) abort();
  const memagent::profile::LoadReport& load = loaded.profile->load;
  if (load.chunks_damaged + load.chunks_missing + load.bad_references != 0) abort();
  const memagent::v1::Accounting& all = loaded.profile->accounting;
  if (all.samples_seen() != all.attributed() + SumOf(all.unattributed()) + SumOf(all.dropped())) {
    abort();
  }
  uint64_t attributed = 0;
  for (const auto& [id, site] : loaded.profile->sites) attributed += site.total.samples();
  if (attributed != all.attributed()) abort();
}

perf_event_attr Attr(uint32_t type, uint64_t config, uint64_t fields) {
  perf_event_attr attr = {};
  attr.type = type;
  attr.config = config;
  attr.sample_type = fields;
  attr.sample_id_all = 1;
  attr.precise_ip = 2;
  return attr;
}

void AddPebsSeeds(memagent::testing::SeedList& seeds) {
  PerfDataBuilder file;
  file.AddEvent(Attr(4, 0x1cd,
                     PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                         PERF_SAMPLE_CPU | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC),
                {1}, "cpu/mem-loads/P");
  file.SetFeature(9, memagent::testing::StringFeature("GenuineIntel,6,85,4"));
  RecordBuilder comm(PERF_RECORD_COMM);
  file.Add(memagent::testing::AddName(comm.U32(10).U32(10), "app").U64(0).U64(1).U64(0));
  RecordBuilder map(PERF_RECORD_MMAP2);
  map.U32(10).U32(10).U64(0x401000).U64(0x1000).U64(0x1000).U64(8).U64(9).U64(0).U32(5).U32(2);
  file.Add(memagent::testing::AddName(map, "/bin/false").U64(0).U64(1).U64(0));
  RecordBuilder fork(PERF_RECORD_FORK);
  file.Add(fork.U32(11).U32(10).U32(11).U32(10).U64(2).U64(0).U64(2).U64(0));
  RecordBuilder sample(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_EXACT_IP);
  sample.U64(0x401000).U32(11).U32(11).U64(3).U64(0x401800).U64(0).U64(9).U64(0x268100142);
  file.Add(sample);
  file.Add(RecordBuilder(PERF_RECORD_LOST).U64(1).U64(7).U64(0).U64(4).U64(0));
  seeds.push_back(file.File());
  seeds.push_back(file.Pipe());
}

void AddIbsSeed(memagent::testing::SeedList& seeds) {
  PerfDataBuilder file;
  file.AddEvent(Attr(11, 1 << 19, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_RAW), {1},
                "ibs_op//");
  Bytes pmus;
  memagent::testing::AppendU32(pmus, 1);
  memagent::testing::AppendU32(pmus, 11);
  memagent::testing::AppendString(pmus, "ibs_op");
  file.SetFeature(16, pmus);
  memagent::testing::IbsRegisters registers;
  registers.data3 = 0x1dc14d700a1;
  const std::vector<uint8_t> raw = memagent::testing::IbsRaw(registers);
  RecordBuilder sample(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_EXACT_IP);
  sample.U64(0x401000).U64(0x7000).U32(static_cast<uint32_t>(raw.size()));
  file.Add(sample.Append(raw.data(), raw.size()));
  seeds.push_back(file.File());
}

void AddSpeSeed(memagent::testing::SeedList& seeds) {
  PerfDataBuilder file;
  file.AddEvent(Attr(9, 1, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU), {1},
                "arm_spe_0//");
  RecordBuilder info(70);
  info.U32(4).U32(0).U64(2).U64(4).U64(9).U64(1);
  file.Add(info.U64(0x1010101010101010).U64(0).U64(3).U64(0x413fd0c1).U64(9).U64(256));
  file.Add(RecordBuilder(79).U64(4).U64(10).U64(1000));
  RecordBuilder aux(PERF_RECORD_AUX);
  file.Add(aux.U64(0).U64(64).U64(1).U64(10).U64(5).U64(0));
  memagent::testing::SpeBuilder trace;
  trace.Pc(0x401000).Load().Virtual(0x800100).Source(14).TotalLatency(9).Timestamp(50).Pad(64);
  file.Add(RecordBuilder(71).U64(trace.bytes().size()).U64(0).U64(0).U32(0).U32(10).U64(0));
  file.Add(trace.bytes());
  seeds.push_back(file.Pipe());
}

}  // namespace

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  AddPebsSeeds(seeds);
  AddIbsSeed(seeds);
  AddSpeSeed(seeds);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  StringSink sink;
  const memagent::importer::ImportResult result =
      memagent::importer::ImportPerfData({data, size}, "perf.data", {}, sink);
  if (!result.problem.empty()) {
    if (!sink.text.empty()) abort();
    return 0;
  }
  if (!result.stored) abort();
  CheckProfile(sink.text);
  return 0;
}
