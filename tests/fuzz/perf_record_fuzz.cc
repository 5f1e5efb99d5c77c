// Ring reader and record parser over arbitrary bytes: no read outside the ring, no record longer
// than what was written, and the ring always comes to an end. AUX records are followed into an AUX
// area whose head and tail come from the input as well.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "agent/decode/perf_record.h"
#include "agent/decode/spe_record.h"
#include "agent/os/aux_ring.h"
#include "agent/os/perf_ring.h"
#include "tests/support/fuzz_seeds.h"
#include "tests/support/record_builder.h"

namespace {

using memagent::decode::RecordLayout;

constexpr size_t kRingBytes = 1024;
constexpr uint64_t kCommon =
    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
constexpr RecordLayout kLayouts[] = {
    {kCommon | PERF_SAMPLE_REGS_USER, memagent::decode::kRegisterMask},
    {kCommon | PERF_SAMPLE_ADDR, 0},
    {PERF_SAMPLE_IP, 0},
    {PERF_SAMPLE_REGS_USER, 0x10001},
    {kCommon | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |
         PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_RAW,
     0},
    {(uint64_t{1} << 25) - 1 - PERF_SAMPLE_WEIGHT, 0x3, PERF_FORMAT_GROUP | PERF_FORMAT_ID,
     PERF_SAMPLE_BRANCH_HW_INDEX, 0x7},
    {0, 0},
};

// An area that holds the same bytes as the input.
class AuxArea {
 public:
  explicit AuxArea(std::span<const uint8_t> input) : bytes_(kRingBytes) {
    memcpy(bytes_.data(), input.data(), std::min(input.size(), bytes_.size()));
    if (input.size() >= 16) {
      memcpy(&control_.aux_tail, input.data(), 8);
      memcpy(&control_.aux_head, input.data() + 8, 8);
    }
    ring_ = memagent::os::AuxRing(&control_, bytes_.data(), bytes_.size());
  }
  void Read(const memagent::os::AuxChunk& chunk) {
    const uint64_t tail = control_.aux_tail;
    uint64_t at = tail;
    uint64_t end = tail;
    ring_.Read(chunk, scratch_, [&](std::span<const uint8_t> piece, uint64_t offset) {
      if (end != tail && offset != at) abort();  // a gap between two pieces
      at = end = offset + piece.size();
      if (control_.aux_head - end > bytes_.size()) abort();
      Decode(piece, offset);
    });
    if (end != tail && control_.aux_tail != end) abort();
  }
  void ReadRest() {
    ring_.ReadRest(scratch_, [&](auto piece, uint64_t offset) { Decode(piece, offset); });
    if (control_.aux_tail != control_.aux_head) abort();
  }

 private:
  void Decode(std::span<const uint8_t> piece, uint64_t offset) {
    if (piece.empty() || piece.size() > bytes_.size()) abort();
    memagent::decode::SpeRecordReader reader(piece, offset);
    for (memagent::decode::SpeRecord record; reader.Next(record);) {
    }
  }

  perf_event_mmap_page control_ = {};
  std::vector<uint8_t> bytes_;
  memagent::os::AuxRing ring_;
  memagent::base::Vector<uint8_t> scratch_;
};

void ParseAll(std::span<const uint8_t> record, AuxArea& area) {
  memagent::decode::PeekSampleEventId(record);
  for (const RecordLayout& layout : kLayouts) {
    const auto parsed = memagent::decode::ParseRecord(record, layout);
    if (!parsed) continue;
    if (record.size() < sizeof(perf_event_header)) abort();
    if (parsed->kind == memagent::decode::RecordKind::kAux) area.Read(parsed->aux);
  }
}

}  // namespace

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  using memagent::testing::RecordBuilder;
  // The first two bytes say where in the ring the rest is written.
  std::vector<uint8_t> seed = {0, 0};
  const auto add = [&](const std::vector<uint8_t>& record) {
    seed.insert(seed.end(), record.begin(), record.end());
  };
  RecordBuilder clock(PERF_RECORD_SAMPLE);
  clock.U64(1).U64(0x401000).U32(1).U32(2).U64(3).U32(0).U32(0).U64(PERF_SAMPLE_REGS_ABI_64);
  for (uint64_t i = 0; i < memagent::decode::kRegisterCount; ++i) clock.U64(i);
  add(clock.Bytes());
  add(RecordBuilder(PERF_RECORD_LOST).U64(1).U64(5).Bytes());
  add(RecordBuilder(PERF_RECORD_SAMPLE)
          .U64(2)
          .U64(3)
          .U32(1)
          .U32(2)
          .U64(3)
          .U64(4)
          .U32(0)
          .U32(0)
          .Bytes());
  add(RecordBuilder(PERF_RECORD_THROTTLE).U64(1).U64(2).U64(3).Bytes());
  add(RecordBuilder(PERF_RECORD_AUX).U64(8).U64(64).U64(PERF_AUX_FLAG_TRUNCATED).Bytes());
  seeds.push_back(seed);
  seed[0] = 120;  // 960 bytes into a ring of 1024: the first record wraps
  seeds.push_back(seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  AuxArea area({data, size});
  ParseAll({data, size}, area);
  if (size < 2) return 0;
  std::vector<uint8_t> ring_bytes(kRingBytes);
  perf_event_mmap_page control = {};
  control.data_tail = (data[0] + data[1] * 256u) * 8u;
  control.data_head = control.data_tail;
  for (size_t i = 2; i < size; ++i) ring_bytes[control.data_head++ % kRingBytes] = data[i];
  control.data_head = (control.data_head + 7) & ~uint64_t{7};
  const uint64_t written = control.data_head - control.data_tail;
  memagent::os::PerfRing ring(&control, ring_bytes.data(), kRingBytes);
  uint64_t read = 0;
  ring.Drain([&](std::span<const uint8_t> record) {
    read += record.size();
    ParseAll(record, area);
  });
  area.ReadRest();
  if (read > written) abort();
  if (ring.state() == memagent::os::RingState::kOk && ring.UnreadBytes() != 0) abort();
  return 0;
}
