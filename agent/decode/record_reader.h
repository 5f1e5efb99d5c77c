// Reads the fields of a perf record one after the other. Trusts no length. Calling thread: any.
#ifndef MEMAGENT_AGENT_DECODE_RECORD_READER_H_
#define MEMAGENT_AGENT_DECODE_RECORD_READER_H_

#include <cstdint>
#include <cstring>
#include <span>

namespace memagent::decode {

// Takes fields off the front of a record's body; after the first that is not there, ok() is false
// and everything reads as zero.
class RecordReader {
 public:
  explicit RecordReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

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
  // The next `size` bytes as they are: empty when they are not all there.
  std::span<const uint8_t> TakeBytes(uint64_t size) {
    if (bytes_.size() < size) {
      ok_ = false;
      bytes_ = {};
      return {};
    }
    const auto taken = bytes_.first(static_cast<size_t>(size));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }
  // Skips `count` words.
  void SkipWords(uint64_t count) {
    constexpr uint64_t kMostWords = UINT64_MAX / sizeof(uint64_t);
    TakeBytes(count > kMostWords ? UINT64_MAX : count * sizeof(uint64_t));
  }
  size_t remaining() const { return bytes_.size(); }
  bool ok() const { return ok_; }
  bool finished() const { return ok_ && bytes_.empty(); }

 private:
  std::span<const uint8_t> bytes_;
  bool ok_ = true;
};

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_RECORD_READER_H_
