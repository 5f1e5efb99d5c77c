// Builds the bytes of perf.data files, for tests and fuzz seeds: attrs with ids, features, records.
#ifndef MEMAGENT_TESTS_SUPPORT_PERF_DATA_BUILDER_H_
#define MEMAGENT_TESTS_SUPPORT_PERF_DATA_BUILDER_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/record_builder.h"

namespace memagent::testing {

using Bytes = std::vector<uint8_t>;

inline void AppendBytes(Bytes& to, const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  to.insert(to.end(), bytes, bytes + size);
}
inline void AppendBytes(Bytes& to, const Bytes& from) { AppendBytes(to, from.data(), from.size()); }
inline void AppendU32(Bytes& to, uint32_t value) { AppendBytes(to, &value, sizeof(value)); }
inline void AppendU64(Bytes& to, uint64_t value) { AppendBytes(to, &value, sizeof(value)); }

// A string as features have it: its padded length, then the text and zeros.
inline void AppendString(Bytes& to, std::string_view text) {
  const size_t padded = (text.size() + 64) / 64 * 64;
  AppendU32(to, static_cast<uint32_t>(padded));
  AppendBytes(to, text.data(), text.size());
  to.resize(to.size() + padded - text.size());
}
inline Bytes StringFeature(std::string_view text) {
  Bytes bytes;
  AppendString(bytes, text);
  return bytes;
}

// A name inside a record: padded to 8 bytes with at least one zero.
inline RecordBuilder& AddName(RecordBuilder& record, std::string_view name) {
  std::string padded(name);
  padded.resize((name.size() + 8) / 8 * 8);
  return record.Append(padded.data(), padded.size());
}

struct BuiltEvent {
  perf_event_attr attr = {};
  std::vector<uint64_t> ids;
  std::string name;
};

class PerfDataBuilder {
 public:
  BuiltEvent& AddEvent(const perf_event_attr& attr, std::vector<uint64_t> ids,
                       std::string_view name) {
    events_.push_back({attr, std::move(ids), std::string(name)});
    events_.back().attr.size = sizeof(perf_event_attr);
    return events_.back();
  }
  void SetFeature(uint32_t feature, Bytes bytes) { features_[feature] = std::move(bytes); }
  void Add(const Bytes& record) { AppendBytes(records_, record); }
  void Add(const RecordBuilder& record) { Add(record.Bytes()); }

  // As `perf record -o perf.data` writes it.
  Bytes File() const {
    constexpr uint64_t kAttrBytes = sizeof(perf_event_attr) + 16;
    Bytes ids;
    Bytes attrs;
    for (const BuiltEvent& event : events_) {
      AppendBytes(attrs, &event.attr, sizeof(event.attr));
      AppendU64(attrs, kHeaderBytes + ids.size());
      AppendU64(attrs, event.ids.size() * 8);
      for (const uint64_t id : event.ids) AppendU64(ids, id);
    }
    const uint64_t attrs_at = kHeaderBytes + ids.size();
    const uint64_t data_at = attrs_at + attrs.size();
    Bytes bytes = Header(kAttrBytes, {attrs_at, attrs.size()}, {data_at, records_.size()});
    AppendBytes(bytes, ids);
    AppendBytes(bytes, attrs);
    AppendBytes(bytes, records_);
    AppendFeatures(bytes);
    return bytes;
  }

  // As `perf record -o -` writes it.
  Bytes Pipe() const {
    Bytes bytes;
    AppendU64(bytes, kMagic);
    AppendU64(bytes, 16);
    for (const BuiltEvent& event : events_) {
      RecordBuilder record(64);  // PERF_RECORD_HEADER_ATTR
      record.Append(&event.attr, sizeof(event.attr));
      for (const uint64_t id : event.ids) record.U64(id);
      AppendBytes(bytes, record.Bytes());
    }
    for (const auto& [feature, content] : AllFeatures()) {
      RecordBuilder record(80);  // PERF_RECORD_HEADER_FEATURE
      record.U64(feature).Append(content.data(), content.size());
      AppendBytes(bytes, record.Bytes());
    }
    AppendBytes(bytes, records_);
    return bytes;
  }

  static constexpr uint64_t kMagic = 0x32454c4946524550;  // "PERFILE2"
  static constexpr uint64_t kHeaderBytes = 104;

 private:
  static Bytes Header(uint64_t attr_bytes, std::pair<uint64_t, uint64_t> attrs,
                      std::pair<uint64_t, uint64_t> data, uint64_t features = 0) {
    Bytes bytes;
    for (const uint64_t word :
         {kMagic, kHeaderBytes, attr_bytes, attrs.first, attrs.second, data.first, data.second,
          uint64_t{0}, uint64_t{0}, features, uint64_t{0}, uint64_t{0}, uint64_t{0}}) {
      AppendU64(bytes, word);
    }
    return bytes;
  }

  // Names of events are a feature, too.
  std::map<uint32_t, Bytes> AllFeatures() const {
    std::map<uint32_t, Bytes> features = features_;
    Bytes names;
    AppendU32(names, static_cast<uint32_t>(events_.size()));
    AppendU32(names, sizeof(perf_event_attr));
    for (const BuiltEvent& event : events_) {
      AppendBytes(names, &event.attr, sizeof(event.attr));
      AppendU32(names, static_cast<uint32_t>(event.ids.size()));
      AppendString(names, event.name);
      for (const uint64_t id : event.ids) AppendU64(names, id);
    }
    features[12] = names;  // HEADER_EVENT_DESC
    return features;
  }

  void AppendFeatures(Bytes& bytes) const {
    const std::map<uint32_t, Bytes> features = AllFeatures();
    uint64_t bits = 0;
    uint64_t at = bytes.size() + features.size() * 16;
    Bytes contents;
    for (const auto& [feature, content] : features) {
      bits |= uint64_t{1} << feature;
      AppendU64(bytes, at + contents.size());
      AppendU64(bytes, content.size());
      AppendBytes(contents, content);
    }
    AppendBytes(bytes, contents);
    memcpy(bytes.data() + 72, &bits, sizeof(bits));
  }

  std::vector<BuiltEvent> events_;
  std::map<uint32_t, Bytes> features_;
  Bytes records_;
};

}  // namespace memagent::testing

#endif  // MEMAGENT_TESTS_SUPPORT_PERF_DATA_BUILDER_H_
