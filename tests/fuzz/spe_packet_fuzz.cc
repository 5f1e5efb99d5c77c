// Arm SPE's AUX bytes, all the way to records and data sources: every byte belongs to one packet,
// nothing is read beyond the end, and there is a record for every packet that ends one.
#include <cstdlib>
#include <vector>

#include "agent/decode/spe_data_source.h"
#include "agent/decode/spe_packet.h"
#include "agent/decode/spe_record.h"
#include "tests/support/fuzz_seeds.h"
#include "tests/support/spe_builder.h"

namespace {

using memagent::decode::SpeCpu;
using memagent::decode::SpeEncoding;
using memagent::decode::SpePacket;
using memagent::decode::SpePacketKind;
using memagent::decode::SpeRecord;
using memagent::decode::SpeRecordReader;

// Records that the packets end.
uint64_t WalkPackets(std::span<const uint8_t> bytes, uint64_t offset) {
  uint64_t ends = 0;
  while (!bytes.empty()) {
    const SpePacket packet = memagent::decode::ParseSpePacket(bytes, offset);
    if (packet.bytes == 0 || packet.bytes > bytes.size()) abort();
    if (packet.kind == SpePacketKind::kCut && packet.bytes != bytes.size()) abort();
    if (packet.kind == SpePacketKind::kTimestamp || packet.kind == SpePacketKind::kEnd) ++ends;
    bytes = bytes.subspan(packet.bytes);
    offset += packet.bytes;
  }
  return ends;
}

uint64_t ReadRecords(std::span<const uint8_t> bytes, uint64_t offset) {
  SpeRecordReader reader(bytes, offset);
  for (SpeRecord record; reader.Next(record);) {
    for (const SpeEncoding encoding : {SpeEncoding::kUnknown, SpeEncoding::kCommon,
                                       SpeEncoding::kAmpereOne, SpeEncoding::kHisilicon}) {
      const SpeCpu cpu = {.encoding = encoding};
      const uint64_t word = memagent::decode::SpePerfDataSource(record, cpu);
      const bool has_op = memagent::decode::SpeDataSource(record, cpu).op != memagent::MemoryOp{};
      if ((word != 0) != record.is_memory_access() || has_op != record.is_memory_access()) abort();
    }
  }
  const memagent::decode::SpeCounts& counts = reader.counts();
  if (counts.damaged > counts.records || counts.unfinished > 1) abort();
  if (counts.bad_bytes > bytes.size()) abort();
  return counts.records;
}

}  // namespace

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  memagent::testing::SpeBuilder builder;
  builder.Byte(3);  // where in the stream the rest starts
  builder.Pc(0x401000).Load().Events(0x16).IssueLatency(4).TotalLatency(12).Virtual(0x7f0012345678);
  builder.TranslationLatency(1).Physical(0x8000).Context(77).Source(8).Timestamp(123456).Pad(8);
  seeds.push_back(builder.bytes());
  builder.Byte(0x06).Store().Virtual(0x1000).End().Byte(0x21).Virtual(5).Byte(0x23).Byte(0).Pad(64);
  seeds.push_back(builder.bytes());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const uint64_t offset = data[0];
  const std::vector<uint8_t> exact(data + 1, data + size);  // so that a sanitizer sees its end
  if (WalkPackets(exact, offset) != ReadRecords(exact, offset)) abort();
  return 0;
}
