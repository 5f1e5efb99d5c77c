#include "viewer/import/record_walk.h"

#include "agent/decode/record_reader.h"
#include "viewer/import/perf_format.h"

namespace memagent::importer {
namespace {

// Bytes behind the record that its size does not count.
uint64_t DataBytes(const RawRecord& record) {
  decode::RecordReader body(record.body());
  if (record.type == kRecordAuxtrace) return body.Take<uint64_t>();
  if (record.type == kRecordTracingData) return body.Take<uint32_t>();
  return 0;
}

}  // namespace

bool RecordWalk::Next(RawRecord& record) {
  const std::span<const uint8_t> rest = records_.subspan(at_);
  decode::RecordReader header(rest);
  record.type = header.Take<uint32_t>();
  record.misc = header.Take<uint16_t>();
  const auto size = header.Take<uint16_t>();
  if (!header.ok() || size < sizeof(perf_event_header) || size > rest.size()) return false;
  record.bytes = rest.first(size);
  const uint64_t data_bytes = DataBytes(record);
  if (data_bytes > rest.size() - size) return false;
  record.data = rest.subspan(size, data_bytes);
  at_ += size + data_bytes;
  return true;
}

}  // namespace memagent::importer
