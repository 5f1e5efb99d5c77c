#include "viewer/import/spe_traces.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "agent/decode/record_reader.h"
#include "agent/decode/spe_access.h"
#include "viewer/import/perf_format.h"

namespace memagent::importer {
namespace {

using decode::SpeRecord;

constexpr uint64_t kNever = UINT64_MAX;

// Where a stretch of the AUX stream was written: a PERF_RECORD_AUX.
struct Stretch {
  uint64_t offset = 0;
  uint64_t end = 0;
  uint32_t cpu = kNoCpu;
  uint64_t time = kNever;
};

// PERF_RECORD_AUXTRACE, without its data.
struct Piece {
  uint64_t offset = 0;
  int32_t tid = -1;
  uint32_t cpu = kNoCpu;
};

Piece ParsePiece(const RawRecord& record) {
  decode::RecordReader body(record.body());
  Piece piece;
  body.Take<uint64_t>();  // the data's size
  piece.offset = body.Take<uint64_t>();
  body.Take<uint64_t>();  // when perf copied it
  body.Take<uint32_t>();  // which of perf's buffers
  piece.tid = body.Take<int32_t>();
  piece.cpu = body.Take<uint32_t>();  // -1: of a thread
  return piece;
}

class Reader {
 public:
  Reader(const PerfDataFile& file, const EventTable& events)
      : file_(file), events_(events), cpus_(file) {}

  SpeTraces Run() {
    ForEach(PERF_RECORD_AUX, [this](const RawRecord& record) { TakeAux(record); });
    for (auto& [key, stretches] : stretches_) {
      std::sort(stretches.begin(), stretches.end(),
                [](const Stretch& a, const Stretch& b) { return a.offset < b.offset; });
    }
    ForEach(kRecordAuxtrace, [this](const RawRecord& record) { TakePiece(record); });
    return std::move(traces_);
  }

 private:
  // Buffers are one for each CPU, or one for each thread.
  static uint64_t KeyOf(int32_t tid, uint32_t cpu) {
    return cpu == kNoCpu ? uint64_t{1} << 32 | static_cast<uint32_t>(tid) : cpu;
  }

  template <typename Visit>
  void ForEach(uint32_t type, Visit visit) const {
    RecordWalk walk(file_.records);
    for (RawRecord record; walk.Next(record);) {
      if (record.type == type) visit(record);
    }
  }

  void TakeAux(const RawRecord& record) {
    decode::RecordReader body(record.body());
    Stretch stretch;
    stretch.offset = body.Take<uint64_t>();
    const auto size = body.Take<uint64_t>();
    const auto flags = body.Take<uint64_t>();
    if (!body.ok() || size > UINT64_MAX - stretch.offset) return;
    traces_.counts.truncated += (flags & PERF_AUX_FLAG_TRUNCATED) != 0;
    traces_.counts.collisions += (flags & PERF_AUX_FLAG_COLLISION) != 0;
    const Trailer trailer = events_.TrailerOf(record);
    if (size == 0 || !trailer.present) return;
    stretch.end = stretch.offset + size;
    stretch.cpu = trailer.cpu;
    stretch.time = trailer.time.value_or(kNever);
    stretches_[KeyOf(trailer.tid, kNoCpu)].push_back(stretch);
    if (trailer.cpu != kNoCpu) stretches_[KeyOf(0, trailer.cpu)].push_back(stretch);
  }

  // In the stretches that the kernel told, each of which is of one CPU; the rest as it is.
  void TakePiece(const RawRecord& record) {
    const Piece piece = ParsePiece(record);
    const uint64_t end = piece.offset + record.data.size();
    uint64_t at = piece.offset;
    if (end < at) return;
    const auto decode = [&](uint64_t until, const Stretch& stretch) {
      const auto bytes = record.data.subspan(at - piece.offset, until - at);
      if (!bytes.empty()) TakeBytes(bytes, at, piece, stretch);
      at = until;
    };
    const auto known = stretches_.find(KeyOf(piece.tid, piece.cpu));
    if (known != stretches_.end()) {
      const std::vector<Stretch>& all = known->second;
      auto next = std::partition_point(all.begin(), all.end(),
                                       [&](const Stretch& s) { return s.end <= at; });
      for (; next != all.end() && next->offset < end; ++next) {
        if (next->offset > at) decode(next->offset, {});
        if (next->end > at) decode(std::min(next->end, end), *next);
      }
    }
    decode(end, {});
  }

  void TakeBytes(std::span<const uint8_t> bytes, uint64_t offset, const Piece& piece,
                 const Stretch& stretch) {
    const uint32_t cpu = piece.cpu != kNoCpu ? piece.cpu : stretch.cpu;
    const decode::SpeCpu kind = cpus_.Of(cpu);
    uint64_t time = stretch.time;
    decode::SpeRecordReader reader(bytes, offset);
    for (SpeRecord record; reader.Next(record);) {
      if (record.timestamp != 0 && file_.time_conversion) {
        time = file_.time_conversion->ToNanos(record.timestamp);
      }
      if (record.damaged) continue;
      TraceAccess access;
      access.time = time;
      access.cpu = cpu;
      access.tid = piece.tid;
      if (record.context_id) access.tid = static_cast<int32_t>(*record.context_id);
      access.physical_address = record.physical_address;
      access.perf_data_source = decode::SpePerfDataSource(record, kind);
      access.hardware = decode::SpeAccess(record, kind);
      traces_.accesses.push_back(access);
    }
    traces_.counts.damaged += reader.counts().damaged;
    traces_.counts.bad_bytes += reader.counts().bad_bytes;
    traces_.counts.unfinished += reader.counts().unfinished;
  }

  const PerfDataFile& file_;
  const EventTable& events_;
  const TraceCpus cpus_;
  std::map<uint64_t, std::vector<Stretch>> stretches_;
  SpeTraces traces_;
};

}  // namespace

SpeTraces ReadSpeTraces(const PerfDataFile& file, const EventTable& events) {
  return Reader(file, events).Run();
}

TraceCpus::TraceCpus(const PerfDataFile& file) {
  // "0x00000000410fd0c0"; nothing else than Arm's ids is of this form.
  std::string_view text = file.machine.cpu_id;
  uint64_t midr = 0;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    std::from_chars(text.data(), text.data() + text.size(), midr, 16);
    any_.encoding = decode::SpeEncodingOf(midr);
  }
  TakeFacts(file.auxtrace_facts);
}

// Two words before perf 6.13: type and kind of buffers. Then: version, number of words up to the
// CPUs, type, number of CPUs; and for each CPU a magic number, its number, how many words follow,
// the MIDR, the type, the shortest interval and, since perf 7.0, the events that it knows.
void TraceCpus::TakeFacts(const std::vector<uint64_t>& facts) {
  constexpr uint64_t kMagic = 0x1010101010101010;
  constexpr size_t kEventFilter = 6;
  if (facts.size() <= 2) return;
  size_t at = facts[1];
  while (at < facts.size() && facts.size() - at > 3 && facts[at] == kMagic) {
    const uint64_t words = std::min<uint64_t>(facts[at + 2], facts.size() - at - 3);
    if (words == 0) return;
    decode::SpeCpu cpu;
    cpu.encoding = decode::SpeEncodingOf(facts[at + 3]);
    if (words + 3 > kEventFilter) {
      cpu.tells_snoops =
          (facts[at + kEventFilter] >> static_cast<int>(decode::SpeEvent::kSnooped) & 1) != 0;
    }
    by_cpu_[static_cast<uint32_t>(facts[at + 1])] = cpu;
    at += 3 + words;
  }
  if (by_cpu_.empty()) return;
  any_ = by_cpu_.begin()->second;
  for (const auto& [number, cpu] : by_cpu_) {
    if (cpu.encoding != any_.encoding) any_.encoding = decode::SpeEncoding::kUnknown;
    any_.tells_snoops = any_.tells_snoops && cpu.tells_snoops;
  }
}

decode::SpeCpu TraceCpus::Of(uint32_t cpu) const {
  const auto known = by_cpu_.find(cpu);
  return known == by_cpu_.end() ? any_ : known->second;
}

}  // namespace memagent::importer
