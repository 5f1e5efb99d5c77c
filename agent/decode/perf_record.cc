#include "agent/decode/perf_record.h"

#include <linux/perf_event.h>

#include <cstring>

namespace memagent::decode {
namespace {

constexpr uint64_t kSupported = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
                                PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                                PERF_SAMPLE_REGS_USER;

// Takes fields off the front of a record's body; after the first that is not there, ok() is false
// and everything reads as zero.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  T Take() {
    T value{};
    if (bytes_.size() < sizeof(T)) {
      ok_ = false;
      bytes_ = {};
      return value;
    }
    memcpy(&value, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }
  bool ok() const { return ok_; }
  bool finished() const { return ok_ && bytes_.empty(); }

 private:
  std::span<const uint8_t> bytes_;
  bool ok_ = true;
};

std::optional<perf_event_header> HeaderOf(std::span<const uint8_t> record) {
  perf_event_header header;
  if (record.size() < sizeof(header)) return std::nullopt;
  memcpy(&header, record.data(), sizeof(header));
  if (header.size != record.size()) return std::nullopt;
  return header;
}

// Bits 0..11 of the mask are registers 0..11 of ours; bits 16..23 (R8..R15) follow at once.
size_t RegisterIndex(int mask_bit) {
  return static_cast<size_t>(mask_bit < 12 ? mask_bit : mask_bit - 4);
}

void TakeRegisters(Reader& reader, uint64_t mask, RawSample& sample) {
  const auto abi = reader.Take<uint64_t>();
  if (abi == PERF_SAMPLE_REGS_ABI_NONE) return;  // a kernel thread, or exiting: nothing follows
  for (int bit = 0; bit < 64; ++bit) {
    if ((mask >> bit & 1) != 0) sample.registers[RegisterIndex(bit)] = reader.Take<uint64_t>();
  }
  // 32-bit code in a 64-bit process: the values are there, but no decoder of ours reads its code.
  sample.has_registers = abi == PERF_SAMPLE_REGS_ABI_64;
}

std::optional<RawSample> TakeSample(Reader reader, const RecordLayout& layout) {
  RawSample sample;
  const auto has = [&](uint64_t bit) { return (layout.sample_type & bit) != 0; };
  if (has(PERF_SAMPLE_IDENTIFIER)) sample.event_id = reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_IP)) sample.ip = reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_TID)) {
    reader.Take<uint32_t>();  // process id: always our own
    sample.tid = reader.Take<Tid>();
  }
  if (has(PERF_SAMPLE_TIME)) sample.time = reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_ADDR)) sample.address = reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_ID)) sample.event_id = reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_STREAM_ID)) reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_CPU)) {
    sample.cpu = reader.Take<uint32_t>();
    reader.Take<uint32_t>();  // reserved
  }
  if (has(PERF_SAMPLE_PERIOD)) reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_REGS_USER)) TakeRegisters(reader, layout.register_mask, sample);
  if (!reader.finished()) return std::nullopt;
  return sample;
}

void TakeThrottle(Reader& reader, PerfRecord& record) {
  record.time = reader.Take<uint64_t>();
  record.event_id = reader.Take<uint64_t>();
  reader.Take<uint64_t>();  // stream id
}

void TakeExit(Reader& reader, PerfRecord& record) {
  reader.Take<uint32_t>();  // process
  reader.Take<uint32_t>();  // parent process
  record.tid = reader.Take<Tid>();
  reader.Take<uint32_t>();  // parent thread
  record.time = reader.Take<uint64_t>();
}

// Records that are not samples. Bytes after the fields are a sample_id trailer: allowed, not
// needed.
bool TakeOther(Reader reader, uint32_t type, PerfRecord& record) {
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
    default:
      break;
  }
  return reader.ok();
}

}  // namespace

bool IsSupportedLayout(const RecordLayout& layout) {
  return (layout.sample_type & ~kSupported) == 0 && (layout.register_mask & ~kRegisterMask) == 0;
}

std::optional<uint64_t> PeekSampleEventId(std::span<const uint8_t> record) {
  const std::optional<perf_event_header> header = HeaderOf(record);
  if (!header || header->type != PERF_RECORD_SAMPLE) return std::nullopt;
  Reader reader(record.subspan(sizeof(perf_event_header)));
  const auto id = reader.Take<uint64_t>();
  if (!reader.ok()) return std::nullopt;
  return id;
}

std::optional<PerfRecord> ParseRecord(std::span<const uint8_t> record, const RecordLayout& layout) {
  const std::optional<perf_event_header> header = HeaderOf(record);
  if (!header || !IsSupportedLayout(layout)) return std::nullopt;
  const Reader body(record.subspan(sizeof(perf_event_header)));
  PerfRecord parsed;
  if (header->type != PERF_RECORD_SAMPLE) {
    if (!TakeOther(body, header->type, parsed)) return std::nullopt;
    return parsed;
  }
  const std::optional<RawSample> sample = TakeSample(body, layout);
  if (!sample) return std::nullopt;
  parsed.kind = RecordKind::kSample;
  parsed.sample = *sample;
  parsed.event_id = sample->event_id;
  return parsed;
}

}  // namespace memagent::decode
