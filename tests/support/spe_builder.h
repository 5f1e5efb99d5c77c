// Builds the bytes of Arm SPE packets, for tests, fuzz seeds and benchmarks.
#ifndef MEMAGENT_TESTS_SUPPORT_SPE_BUILDER_H_
#define MEMAGENT_TESTS_SUPPORT_SPE_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memagent::testing {

class SpeBuilder {
 public:
  static constexpr uint64_t kNonSecure = uint64_t{1} << 63;

  SpeBuilder& Pc(uint64_t address) { return Packet(0xb0, address | kNonSecure, 8); }
  SpeBuilder& Virtual(uint64_t address) { return Packet(0xb2, address, 8); }
  SpeBuilder& Physical(uint64_t address) { return Packet(0xb3, address | kNonSecure, 8); }
  SpeBuilder& Load() { return Packet(0x49, 0, 1); }
  SpeBuilder& Store() { return Packet(0x49, 1, 1); }
  SpeBuilder& Branch() { return Packet(0x4a, 1, 1); }
  SpeBuilder& Memory(uint8_t payload) { return Packet(0x49, payload, 1); }
  SpeBuilder& Events(uint64_t events) { return Packet(0x62, events, 4); }
  SpeBuilder& Source(uint16_t source) { return Packet(0x53, source, 2); }
  SpeBuilder& Context(uint32_t id) { return Packet(0x64, id, 4); }
  SpeBuilder& IssueLatency(uint16_t cycles) { return Packet(0x99, cycles, 2); }
  SpeBuilder& TotalLatency(uint16_t cycles) { return Packet(0x98, cycles, 2); }
  SpeBuilder& TranslationLatency(uint16_t cycles) { return Packet(0x9a, cycles, 2); }
  SpeBuilder& Timestamp(uint64_t ticks) { return Packet(0x71, ticks, 8); }
  SpeBuilder& End() { return Byte(0x01); }
  SpeBuilder& Byte(uint8_t byte) {
    bytes_.push_back(byte);
    return *this;
  }
  // Zeros up to a multiple of `alignment`.
  SpeBuilder& Pad(size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    return *this;
  }
  SpeBuilder& Packet(uint8_t header, uint64_t payload, int payload_bytes) {
    Byte(header);
    for (int i = 0; i < payload_bytes; ++i) Byte(static_cast<uint8_t>(payload >> 8 * i));
    return *this;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace memagent::testing

#endif  // MEMAGENT_TESTS_SUPPORT_SPE_BUILDER_H_
