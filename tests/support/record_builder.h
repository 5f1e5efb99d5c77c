// Builds the bytes of perf records, for tests and fuzz seeds.
#ifndef MEMAGENT_TESTS_SUPPORT_RECORD_BUILDER_H_
#define MEMAGENT_TESTS_SUPPORT_RECORD_BUILDER_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace memagent::testing {

class RecordBuilder {
 public:
  explicit RecordBuilder(uint32_t type, uint16_t misc = 0) {
    const perf_event_header header = {type, misc, sizeof(perf_event_header)};
    Append(&header, sizeof(header));
  }
  RecordBuilder& U64(uint64_t value) { return Append(&value, sizeof(value)); }
  RecordBuilder& U32(uint32_t value) { return Append(&value, sizeof(value)); }
  RecordBuilder& Append(const void* data, size_t size) {
    const size_t before = bytes_.size();
    bytes_.resize(before + size);
    memcpy(bytes_.data() + before, data, size);
    return *this;
  }
  // The record with its size filled in.
  std::vector<uint8_t> Bytes() const {
    std::vector<uint8_t> bytes = bytes_;
    const auto size = static_cast<uint16_t>(bytes.size());
    memcpy(bytes.data() + offsetof(perf_event_header, size), &size, sizeof(size));
    return bytes;
  }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace memagent::testing

#endif  // MEMAGENT_TESTS_SUPPORT_RECORD_BUILDER_H_
