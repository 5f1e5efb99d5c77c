#include "viewer/import/event_table.h"

#include <bit>

#include "agent/decode/record_reader.h"

namespace memagent::importer {
namespace {

using decode::RecordReader;

uint64_t WordAt(std::span<const uint8_t> bytes, size_t word, bool& ok) {
  if (bytes.size() / sizeof(uint64_t) <= word) {
    ok = false;
    return 0;
  }
  return RecordReader(bytes.subspan(word * sizeof(uint64_t))).Take<uint64_t>();
}

// Words that stand before the first of `fields` that the sample has, in perf_output_sample()'s
// order.
size_t WordsBefore(uint64_t sample_type, uint64_t fields) {
  return static_cast<size_t>(std::popcount(sample_type & fields));
}

constexpr uint64_t kBeforeTime = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;
constexpr uint64_t kBeforeId = kBeforeTime | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
constexpr uint64_t kTrailer = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                              PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

Trailer TakeTrailer(RecordReader reader, uint64_t sample_type) {
  const auto has = [sample_type](uint64_t bit) { return (sample_type & bit) != 0; };
  Trailer trailer;
  if (has(PERF_SAMPLE_TID)) {
    trailer.pid = reader.Take<int32_t>();
    trailer.tid = reader.Take<int32_t>();
  }
  if (has(PERF_SAMPLE_TIME)) trailer.time = reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_ID)) reader.SkipWords(1);
  if (has(PERF_SAMPLE_STREAM_ID)) reader.SkipWords(1);
  if (has(PERF_SAMPLE_CPU)) trailer.cpu = reader.Take<uint32_t>();
  return trailer;
}

}  // namespace

EventTable::EventTable(const std::vector<PerfEvent>& events) : events_(events) {
  for (size_t i = 0; i < events.size(); ++i) {
    for (const uint64_t id : events[i].ids) by_id_.emplace(id, i);
  }
}

std::optional<size_t> EventTable::Find(uint64_t id) const {
  if (events_.size() == 1 || id == 0) return 0;  // perf's own records have id 0
  const auto known = by_id_.find(id);
  if (known == by_id_.end()) return std::nullopt;
  return known->second;
}

size_t EventTable::OfId(uint64_t id) const { return Find(id).value_or(0); }

std::optional<size_t> EventTable::OfSample(const RawRecord& sample) const {
  if (events_.size() == 1) return 0;
  const uint64_t sample_type = events_.front().attr.sample_type;
  if ((sample_type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)) == 0) return 0;
  const bool first = (sample_type & PERF_SAMPLE_IDENTIFIER) != 0;
  bool ok = true;
  const uint64_t id = WordAt(sample.body(), first ? 0 : WordsBefore(sample_type, kBeforeId), ok);
  return ok ? Find(id) : std::nullopt;
}

std::optional<uint64_t> EventTable::TimeOfSample(const RawRecord& sample) const {
  const std::optional<size_t> event = OfSample(sample);
  if (!event) return std::nullopt;
  const uint64_t sample_type = events_[*event].attr.sample_type;
  if ((sample_type & PERF_SAMPLE_TIME) == 0) return std::nullopt;
  bool ok = true;
  const uint64_t time = WordAt(sample.body(), WordsBefore(sample_type, kBeforeTime), ok);
  return ok ? std::optional(time) : std::nullopt;
}

Trailer EventTable::TrailerOf(const RawRecord& record) const {
  const perf_event_attr* attr = &events_.front().attr;
  const size_t words = record.body().size() / sizeof(uint64_t);
  size_t event = 0;
  if (events_.size() > 1 && (attr->sample_type & PERF_SAMPLE_IDENTIFIER) != 0 && words > 0) {
    bool ok = true;
    event = OfId(WordAt(record.body(), words - 1, ok));
    attr = &events_[event].attr;
  }
  const auto size = static_cast<size_t>(std::popcount(attr->sample_type & kTrailer));
  if (!attr->sample_id_all || size == 0 || words < size) return {};
  Trailer trailer = TakeTrailer(
      RecordReader(record.body().subspan((words - size) * sizeof(uint64_t))), attr->sample_type);
  trailer.present = true;
  trailer.event = event;
  return trailer;
}

decode::RecordLayout LayoutOf(const perf_event_attr& attr) {
  return {attr.sample_type, attr.sample_regs_user, attr.read_format, attr.branch_sample_type,
          attr.sample_regs_intr};
}

}  // namespace memagent::importer
