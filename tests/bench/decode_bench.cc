// Cost of decoding what hardware engines write, for each record: what the drain thread does between
// a ring and attribution.
//
//   decode_bench --benchmark_min_time=0.2
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "agent/decode/profileme.h"
#include "agent/decode/spe_data_source.h"
#include "agent/decode/spe_record.h"
#include "agent/os/aux_ring.h"
#include "tests/support/spe_builder.h"

namespace {

using memagent::decode::SpeCpu;
using memagent::decode::SpeEncoding;
using memagent::decode::SpeRecord;
using memagent::decode::SpeRecordReader;
using memagent::testing::SpeBuilder;

constexpr size_t kAreaBytes = size_t{1} << 18;
constexpr size_t kRecords = 2000;

// Loads, stores and, as many as both, branches that a filter would leave out. 64 bytes each, as
// most cores pad them.
std::vector<uint8_t> Records(bool with_branches) {
  SpeBuilder builder;
  for (uint64_t i = 0; i < kRecords; ++i) {
    builder.Pc(0x401000 + 4 * (i % 512))
        .IssueLatency(4)
        .TotalLatency(static_cast<uint16_t>(20 + i));
    builder.Events(0x16);
    if (with_branches && i % 2 == 0) {
      builder.Branch();
    } else if (i % 3 == 0) {
      builder.Store().Virtual(0x7f00'0000'0000 + 64 * i).TranslationLatency(1);
    } else {
      builder.Load().Virtual(0x7f00'0000'0000 + 64 * i).TranslationLatency(1).Source(i % 15);
    }
    builder.Timestamp(1'000'000 + 100 * i).Pad(64);
  }
  return builder.bytes();
}

// range(0): where in the area the records start. Near its end they wrap and are copied.
void DrainSpe(benchmark::State& state, bool with_branches) {
  const std::vector<uint8_t> records = Records(with_branches);
  const auto start = static_cast<uint64_t>(state.range(0));
  std::vector<uint8_t> area(kAreaBytes);
  for (size_t i = 0; i < records.size(); ++i) area[(start + i) % kAreaBytes] = records[i];
  perf_event_mmap_page control = {};
  memagent::os::AuxRing ring(&control, area.data(), area.size());
  memagent::base::Vector<uint8_t> scratch;
  const SpeCpu cpu = {.encoding = SpeEncoding::kCommon};
  uint64_t read = 0;
  for (auto _ : state) {
    control.aux_tail = start;
    control.aux_head = start + records.size();
    ring.Read({start, records.size(), 0}, scratch,
              [&](std::span<const uint8_t> bytes, uint64_t offset) {
                SpeRecordReader reader(bytes, offset);
                for (SpeRecord record; reader.Next(record);) {
                  benchmark::DoNotOptimize(SpeDataSource(record, cpu));
                  ++read;
                }
              });
  }
  if (read != kRecords * state.iterations()) state.SkipWithError("records are missing");
  state.SetItemsProcessed(static_cast<int64_t>(read));
  state.counters["each"] = benchmark::Counter(
      static_cast<double>(read), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_SpeMemory(benchmark::State& state) { DrainSpe(state, false); }
void BM_SpeMixed(benchmark::State& state) { DrainSpe(state, true); }

void BM_ProfileMe(benchmark::State& state) {
  std::vector<uint8_t> payload(36);
  payload[0] = 1;
  payload[24] = 0x12;
  memagent::decode::ProfileMeCounts counts;
  for (auto _ : state) {
    benchmark::DoNotOptimize(payload.data());
    benchmark::DoNotOptimize(memagent::decode::ParseProfileMe(payload, counts));
  }
}

BENCHMARK(BM_SpeMemory)->Arg(0)->Arg(kAreaBytes - 1000);
BENCHMARK(BM_SpeMixed)->Arg(0);
BENCHMARK(BM_ProfileMe);

}  // namespace

BENCHMARK_MAIN();
