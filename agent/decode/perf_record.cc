#include "agent/decode/perf_record.h"

#include <linux/perf_event.h>

#include <bit>
#include <cstring>

#include "agent/decode/perf_sample.h"
#include "agent/decode/record_reader.h"

namespace memagent::decode {
namespace {

std::optional<perf_event_header> HeaderOf(std::span<const uint8_t> record) {
  perf_event_header header;
  if (record.size() < sizeof(header)) return std::nullopt;
  memcpy(&header, record.data(), sizeof(header));
  if (header.size != record.size()) return std::nullopt;
  return header;
}

void TakeThrottle(RecordReader& reader, PerfRecord& record) {
  record.time = reader.Take<uint64_t>();
  record.event_id = reader.Take<uint64_t>();
  reader.Take<uint64_t>();  // stream id
}

void TakeExit(RecordReader& reader, PerfRecord& record) {
  reader.Take<uint32_t>();  // process
  reader.Take<uint32_t>();  // parent process
  record.tid = reader.Take<Tid>();
  reader.Take<uint32_t>();  // parent thread
  record.time = reader.Take<uint64_t>();
}

// The trailer of sample_id_all, if what is left has its size. Its order is not the sample's
// (facts: perf_abi 1.2).
void TakeTrailer(RecordReader& reader, uint64_t sample_type, PerfRecord& record) {
  constexpr uint64_t kFields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                               PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  const auto words = static_cast<size_t>(std::popcount(sample_type & kFields));
  if (words == 0 || reader.remaining() != words * sizeof(uint64_t)) return;
  const auto has = [&](uint64_t bit) { return (sample_type & bit) != 0; };
  if (has(PERF_SAMPLE_TID)) {
    reader.Take<uint32_t>();  // process
    record.tid = reader.Take<Tid>();
  }
  if (has(PERF_SAMPLE_TIME)) record.time = reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_ID)) record.event_id = reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_STREAM_ID)) reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_CPU)) {
    record.cpu = reader.Take<uint32_t>();
    reader.Take<uint32_t>();  // reserved
  }
  if (has(PERF_SAMPLE_IDENTIFIER)) record.event_id = reader.Take<uint64_t>();
  record.has_trailer = true;
}

void TakeAux(RecordReader& reader, uint64_t sample_type, PerfRecord& record) {
  record.aux.offset = reader.Take<uint64_t>();
  record.aux.bytes = reader.Take<uint64_t>();
  record.aux.flags = reader.Take<uint64_t>();
  if (reader.ok()) TakeTrailer(reader, sample_type, record);
}

// Records that are not samples. Bytes after the fields are a sample_id trailer: allowed, not
// needed.
bool TakeOther(RecordReader reader, uint32_t type, uint64_t sample_type, PerfRecord& record) {
  switch (type) {
    case PERF_RECORD_LOST:
      record.kind = RecordKind::kLost;
      record.event_id = reader.Take<uint64_t>();
      record.count = reader.Take<uint64_t>();
      break;
    case PERF_RECORD_LOST_SAMPLES:
      record.kind = RecordKind::kLostSamples;
      record.count = reader.Take<uint64_t>();
      break;
    case PERF_RECORD_THROTTLE:
      record.kind = RecordKind::kThrottle;
      TakeThrottle(reader, record);
      break;
    case PERF_RECORD_UNTHROTTLE:
      record.kind = RecordKind::kUnthrottle;
      TakeThrottle(reader, record);
      break;
    case PERF_RECORD_EXIT:
      record.kind = RecordKind::kExit;
      TakeExit(reader, record);
      break;
    case PERF_RECORD_AUX:
      record.kind = RecordKind::kAux;
      TakeAux(reader, sample_type, record);
      break;
    default:
      break;
  }
  return reader.ok();
}

}  // namespace

std::optional<uint64_t> PeekSampleEventId(std::span<const uint8_t> record) {
  const std::optional<perf_event_header> header = HeaderOf(record);
  if (!header || header->type != PERF_RECORD_SAMPLE) return std::nullopt;
  RecordReader reader(record.subspan(sizeof(perf_event_header)));
  const auto id = reader.Take<uint64_t>();
  if (!reader.ok()) return std::nullopt;
  return id;
}

std::optional<PerfRecord> ParseRecord(std::span<const uint8_t> record, const RecordLayout& layout) {
  const std::optional<perf_event_header> header = HeaderOf(record);
  if (!header || !IsSupportedLayout(layout)) return std::nullopt;
  const RecordReader body(record.subspan(sizeof(perf_event_header)));
  PerfRecord parsed;
  if (header->type != PERF_RECORD_SAMPLE) {
    if (!TakeOther(body, header->type, layout.sample_type, parsed)) return std::nullopt;
    return parsed;
  }
  const std::optional<RawSample> sample = TakeSample(body, layout);
  if (!sample) return std::nullopt;
  parsed.kind = RecordKind::kSample;
  parsed.sample = *sample;
  parsed.sample.exact_ip = (header->misc & PERF_RECORD_MISC_EXACT_IP) != 0;
  parsed.event_id = sample->event_id;
  return parsed;
}

}  // namespace memagent::decode
