#include "viewer/import/perf_data_file.h"

#include <algorithm>
#include <utility>

#include "agent/decode/record_reader.h"
#include "viewer/concat.h"
#include "viewer/import/perf_features.h"
#include "viewer/import/perf_format.h"
#include "viewer/import/record_walk.h"

namespace memagent::importer {
namespace {

using decode::RecordReader;
using viewer::Concat;

constexpr uint64_t kMagic = 0x32454c4946524550;         // "PERFILE2", little-endian
constexpr uint64_t kSwappedMagic = 0x50455246494c4532;  // on a big-endian machine
constexpr uint64_t kOldMagic = 0x454c494646524550;      // "PERFFILE", before Linux 3.0
constexpr uint64_t kPipeHeaderBytes = 16;
constexpr uint64_t kSectionBytes = 16;  // offset and size
// Real recordings have less than a hundred; the names of events are looked up one by one.
constexpr size_t kMaxEvents = 4096;

struct Section {
  uint64_t offset = 0;
  uint64_t size = 0;
};

Section TakeSection(RecordReader& reader) {
  Section section;
  section.offset = reader.Take<uint64_t>();
  section.size = reader.Take<uint64_t>();
  return section;
}

// Parses one file; Run() is called once.
class Parser {
 public:
  Parser(std::span<const uint8_t> bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  PerfDataResult Run() {
    RecordReader header(bytes_);
    const auto magic = header.Take<uint64_t>();
    const auto header_bytes = header.Take<uint64_t>();
    if (!CheckMagic(header.ok() ? magic : 0)) return {std::nullopt, problem_};
    if (header_bytes == kPipeHeaderBytes) {
      file_.records = bytes_.subspan(kPipeHeaderBytes);
    } else if (!ReadFileHeader(header)) {
      return {std::nullopt, problem_};
    }
    ReadRecords();
    if (problem_.empty() && file_.events.empty()) Refuse("has no events: it is damaged.");
    if (!problem_.empty()) return {std::nullopt, problem_};
    return {std::move(file_), ""};
  }

 private:
  bool Refuse(std::string_view text) {
    problem_ = Concat(name_, " ", text);
    return false;
  }
  void Warn(std::string text) { file_.warnings.push_back(std::move(text)); }

  bool CheckMagic(uint64_t magic) {
    if (magic == kMagic) return true;
    if (magic == kSwappedMagic) {
      return Refuse("was recorded on a big-endian machine, which memagent cannot read.");
    }
    if (magic == kOldMagic) {
      return Refuse("was recorded by a perf older than Linux 3.0, which memagent cannot read.");
    }
    return Refuse("is not a perf.data file: give what perf record or perf mem record wrote.");
  }

  // What of the section is there.
  std::span<const uint8_t> BytesOf(const Section& section) const {
    if (section.offset > bytes_.size()) return {};
    const std::span<const uint8_t> rest = bytes_.subspan(section.offset);
    return rest.first(std::min<uint64_t>(section.size, rest.size()));
  }

  bool ReadFileHeader(RecordReader& header) {
    const auto attr_bytes = header.Take<uint64_t>();
    const Section attrs = TakeSection(header);
    const Section data = TakeSection(header);
    TakeSection(header);  // event types: of old versions
    uint64_t features[kFeatureBits / 64] = {};
    for (uint64_t& word : features) word = header.Take<uint64_t>();
    if (!header.ok()) return Refuse("ends within its header: it was cut short.");
    if (!ReadAttrs(BytesOf(attrs), attr_bytes)) return false;
    file_.records = BytesOf(data);
    if (data.size == 0) {
      // perf fills the size in when it ends.
      file_.records = BytesOf({data.offset, UINT64_MAX});
      Warn("perf record was not ended properly: the facts that it writes last are missing.");
    } else if (file_.records.size() < data.size) {
      Warn("the file was cut short: its last records and the facts behind them are missing.");
    } else {
      ReadFeatures(BytesOf({data.offset + data.size, UINT64_MAX}), features);
    }
    return true;
  }

  bool ReadAttrs(std::span<const uint8_t> bytes, uint64_t attr_bytes) {
    if (attr_bytes < PERF_ATTR_SIZE_VER0 + kSectionBytes || attr_bytes > bytes.size()) {
      return Refuse("has no events in its header: it is damaged.");
    }
    RecordReader reader(bytes);
    while (reader.remaining() >= attr_bytes && file_.events.size() < kMaxEvents) {
      const auto attr = TakeAttr(reader, attr_bytes - kSectionBytes);
      const Section ids = TakeSection(reader);
      if (!attr) return Refuse("has events of an unknown form in its header: it is damaged.");
      AddEvent(*attr, BytesOf(ids));
    }
    return true;
  }

  // Sections may overlap in a file made to harm: all ids together are no more than it could hold.
  void AddEvent(const perf_event_attr& attr, std::span<const uint8_t> ids) {
    PerfEvent event;
    event.attr = attr;
    RecordReader reader(ids);
    while (reader.remaining() >= sizeof(uint64_t) && ids_ < bytes_.size() / sizeof(uint64_t)) {
      event.ids.push_back(reader.Take<uint64_t>());
      ++ids_;
    }
    file_.events.push_back(std::move(event));
  }

  // `bytes`: a section header for each feature, in the order of their bits.
  void ReadFeatures(std::span<const uint8_t> bytes, const uint64_t (&features)[4]) {
    RecordReader sections(bytes);
    bool cut_short = false;
    for (uint32_t feature = 0; feature < kFeatureBits; ++feature) {
      if ((features[feature / 64] >> (feature % 64) & 1) == 0) continue;
      const Section section = TakeSection(sections);
      const std::span<const uint8_t> content = BytesOf(section);
      cut_short = cut_short || !sections.ok() || content.size() < section.size;
      TakeFeature(feature, content, file_);
    }
    if (cut_short) Warn("the file was cut short: facts of the machine are missing.");
  }

  // What records tell of events and machine.
  void ReadRecords() {
    RecordWalk walk(file_.records);
    for (RawRecord record; problem_.empty() && walk.Next(record);) ReadRecord(record);
    if (!problem_.empty() || !walk.cut_short()) return;
    Warn(Concat("its records end within one at offset ", walk.offset(),
                ": what comes after that is missing."));
    file_.records = file_.records.first(walk.offset());
  }

  void ReadRecord(const RawRecord& record) {
    RecordReader body(record.body());
    switch (record.type) {
      case kRecordHeaderAttr:
        return TakeAttrRecord(record.body());
      case kRecordHeaderFeature: {
        const auto feature = body.Take<uint64_t>();
        if (feature >= kFeatureBits) return;
        TakeFeature(static_cast<uint32_t>(feature), body.TakeBytes(body.remaining()), file_);
        return;
      }
      case kRecordBuildId:
        return TakeBuildId(record.misc, record.body(), file_);
      case kRecordEventUpdate:
        return TakeEventUpdate(body);
      case kRecordTimeConv:
        return TakeTimeConversion(body);
      case kRecordAuxtraceInfo:
        return TakeAuxtraceInfo(body);
      case kRecordCompressed:
      case kRecordCompressed2:
        Refuse("is compressed, which memagent cannot read: record without -z.");
        return;
      default:
        return;
    }
  }

  // Pipes only. The attr tells its own size.
  void TakeAttrRecord(std::span<const uint8_t> body) {
    RecordReader size_field(body);
    size_field.Take<uint32_t>();  // type
    size_t attr_bytes = size_field.Take<uint32_t>();
    if (attr_bytes == 0) attr_bytes = PERF_ATTR_SIZE_VER0;
    RecordReader reader(body);
    const auto attr = TakeAttr(reader, attr_bytes);
    if (!attr || file_.events.size() >= kMaxEvents) return;
    AddEvent(*attr, reader.TakeBytes(reader.remaining()));
  }

  void TakeEventUpdate(RecordReader& body) {
    constexpr uint64_t kName = 2;
    const auto what = body.Take<uint64_t>();
    const auto id = body.Take<uint64_t>();
    if (what != kName || ++names_ > kMaxEvents) return;
    const std::span<const uint8_t> text = body.TakeBytes(body.remaining());
    for (PerfEvent& event : file_.events) {
      if (event.ids.empty() || event.ids.front() != id) continue;
      event.name.assign(text.begin(), std::find(text.begin(), text.end(), 0));
    }
  }

  void TakeTimeConversion(RecordReader& body) {
    os::PerfTime time;
    const auto shift = body.Take<uint64_t>();
    time.mult = static_cast<uint32_t>(body.Take<uint64_t>());
    time.zero = body.Take<uint64_t>();
    if (!body.ok() || shift > os::PerfTime::kMaxShift || time.mult == 0) return;
    time.shift = static_cast<uint16_t>(shift);
    const auto cycles = body.Take<uint64_t>();  // from here on since Linux 5.10
    const auto mask = body.Take<uint64_t>();
    body.Take<uint8_t>();
    const bool is_short = body.Take<uint8_t>() != 0;
    if (body.ok() && is_short) {
      time.cycles = cycles;
      time.mask = mask;
    }
    file_.time_conversion = time;
  }

  void TakeAuxtraceInfo(RecordReader& body) {
    file_.auxtrace_type = body.Take<uint32_t>();
    body.Take<uint32_t>();
    file_.auxtrace_facts.clear();
    while (body.remaining() >= sizeof(uint64_t)) {
      file_.auxtrace_facts.push_back(body.Take<uint64_t>());
    }
  }

  std::span<const uint8_t> bytes_;
  std::string_view name_;
  PerfDataFile file_;
  uint64_t ids_ = 0;  // of all events
  size_t names_ = 0;  // told by records
  std::string problem_;
};

}  // namespace

PerfDataResult ParsePerfData(std::span<const uint8_t> bytes, std::string_view name) {
  return Parser(bytes, name).Run();
}

}  // namespace memagent::importer
