#include "agent/decode/spe_packet.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace memagent::decode {
namespace {

static_assert(std::endian::native == std::endian::little, "payloads are copied as they are");

constexpr uint8_t kPadByte = 0x00;
constexpr uint8_t kEndByte = 0x01;
constexpr uint8_t kTimestampByte = 0x71;

SpePacket Cut(std::span<const uint8_t> bytes) {
  return {.kind = SpePacketKind::kCut, .bytes = bytes.size()};
}

SpePacket PadRun(std::span<const uint8_t> bytes) {
  const auto end =
      std::find_if(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte != kPadByte; });
  return {.kind = SpePacketKind::kPad, .bytes = static_cast<size_t>(end - bytes.begin())};
}

// Fills up to the next multiple of 2 to 16 bytes, of the stream and not of the record.
SpePacket Alignment(std::span<const uint8_t> bytes, uint64_t offset) {
  const uint64_t alignment = uint64_t{1} << ((bytes[0] & 0xf) + 1);
  const auto fill = static_cast<size_t>(alignment - offset % alignment);
  if (fill > bytes.size()) return Cut(bytes);
  return {.kind = SpePacketKind::kAlignment, .bytes = fill};
}

// A packet whose last header byte, at `header_bytes - 1`, tells the length of its payload.
SpePacket WithPayload(SpePacketKind kind, uint8_t index, std::span<const uint8_t> bytes,
                      size_t header_bytes) {
  const size_t payload_bytes = size_t{1} << (bytes[header_bytes - 1] >> 4 & 3);
  if (bytes.size() < header_bytes + payload_bytes) return Cut(bytes);
  SpePacket packet = {.kind = kind, .index = index, .bytes = header_bytes + payload_bytes};
  memcpy(&packet.payload, bytes.data() + header_bytes, payload_bytes);
  return packet;
}

}  // namespace

SpePacket ParseSpePacket(std::span<const uint8_t> bytes, uint64_t offset) {
  uint8_t header = bytes[0];
  const auto low_bits = [&](uint8_t mask) { return static_cast<uint8_t>(header & mask); };
  if (header == kPadByte) return PadRun(bytes);
  if (header == kEndByte) return {.kind = SpePacketKind::kEnd, .bytes = 1};
  if (header == kTimestampByte) return WithPayload(SpePacketKind::kTimestamp, 0, bytes, 1);
  if ((header & 0xcf) == 0x42) return WithPayload(SpePacketKind::kEvents, 0, bytes, 1);
  if ((header & 0xcf) == 0x43) return WithPayload(SpePacketKind::kDataSource, 0, bytes, 1);
  if ((header & 0xfc) == 0x64) return WithPayload(SpePacketKind::kContext, low_bits(3), bytes, 1);
  if ((header & 0xfc) == 0x48) return WithPayload(SpePacketKind::kOperation, low_bits(3), bytes, 1);
  size_t header_bytes = 1;
  uint8_t index_above = 0;
  if ((header & 0xfc) == 0x20) {
    if (bytes.size() < 2) return Cut(bytes);
    if (bytes[1] == kPadByte) return Alignment(bytes, offset);
    header_bytes = 2;
    index_above = static_cast<uint8_t>(low_bits(3) << 3);
    header = bytes[1];
  }
  const auto index = static_cast<uint8_t>(index_above | low_bits(7));
  if ((header & 0xf8) == 0xb0)
    return WithPayload(SpePacketKind::kAddress, index, bytes, header_bytes);
  if ((header & 0xf8) == 0x98)
    return WithPayload(SpePacketKind::kCounter, index, bytes, header_bytes);
  return {.kind = SpePacketKind::kBad, .bytes = 1};
}

}  // namespace memagent::decode
