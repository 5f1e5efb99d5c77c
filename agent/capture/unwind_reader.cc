#include "agent/capture/unwind_reader.h"

namespace memagent::capture {

uint64_t EhReader::Unsigned() {
  uint64_t value = 0;
  for (unsigned shift = 0; ok_; shift += 7) {
    const uint8_t byte = Byte();
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) break;
  }
  return value;
}

int64_t EhReader::Signed() {
  uint64_t value = 0;
  unsigned shift = 0;
  while (ok_) {
    const uint8_t byte = Byte();
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    shift += 7;
    if ((byte & 0x80) != 0) continue;
    if ((byte & 0x40) != 0 && shift < 64) value |= ~uint64_t{0} << shift;
    break;
  }
  return static_cast<int64_t>(value);
}

MemoryView EhReader::Block(uint64_t size) {
  if (!ok_ || view_.bytes.size() - position_ < size) {
    ok_ = false;
    return {};
  }
  const MemoryView block = Rest().First(size);
  position_ += size;
  return block;
}

MemoryView EhReader::String() {
  const MemoryView rest = Rest();
  size_t length = 0;
  while (length < rest.bytes.size() && rest.bytes[length] != 0) ++length;
  if (length == rest.bytes.size()) {
    ok_ = false;
    return {};
  }
  position_ += length + 1;
  return rest.First(length);
}

uint64_t EhReader::PointerValue(uint8_t format) {
  switch (format) {
    case 0x00:
    case 0x04:
    case 0x0c:
      return Fixed<uint64_t>();
    case 0x01:
      return Unsigned();
    case 0x02:
      return Fixed<uint16_t>();
    case 0x03:
      return Fixed<uint32_t>();
    case 0x09:
      return static_cast<uint64_t>(Signed());
    case 0x0a:
      return static_cast<uint64_t>(int64_t{Fixed<int16_t>()});
    case 0x0b:
      return static_cast<uint64_t>(int64_t{Fixed<int32_t>()});
    default:
      ok_ = false;
      return 0;
  }
}

uintptr_t EhReader::Pointer(uint8_t encoding, uintptr_t data_base) {
  const uintptr_t here = address();
  const uint64_t value = PointerValue(encoding & 0x0f);
  switch (encoding & 0x70) {
    case 0:
      return value;
    case kEncodingPcRelative:
      return here + value;
    case kEncodingDataRelative:
      return data_base + value;
    default:  // text-relative, function-relative, aligned: not used on Linux
      ok_ = false;
      return 0;
  }
}

}  // namespace memagent::capture
