#include "agent/capture/unwind_eh_frame.h"

#include <cstring>

namespace memagent::capture {
namespace {

// Both GNU ld and lld write only this: signed 4 bytes relative to the header.
constexpr uint8_t kTableEncoding = 0x3b;
constexpr size_t kRowSize = 8;
// The column of the return address in x86-64 DWARF (System V ABI, figure 3.36).
constexpr uint64_t kReturnAddressColumn = 16;

int32_t TableValue(const EhFrameHeader& header, size_t row, size_t field) {
  int32_t value;
  std::memcpy(&value, header.table.bytes.data() + row * kRowSize + field * 4, sizeof(value));
  return value;
}

// The body of the record at `address`, after its length; empty when there is none.
MemoryView RecordBody(MemoryView frames, uintptr_t address) {
  EhReader reader(frames.From(address));
  uint64_t length = reader.Fixed<uint32_t>();
  if (length == 0xffffffff) length = reader.Fixed<uint64_t>();
  return reader.Block(length);
}

void ReadAugmentation(MemoryView names, EhReader& data, CommonInformation& common, bool& known) {
  for (size_t i = 1; i < names.bytes.size() && known; ++i) {
    switch (names.bytes[i]) {
      case 'R':
        common.pointer_encoding = data.Byte();
        break;
      case 'P': {
        const uint8_t encoding = data.Byte();
        data.Pointer(encoding & 0x0f, 0);
        break;
      }
      case 'L':
        data.Byte();
        break;
      case 'S':
        common.is_signal_frame = true;
        break;
      case 'B':  // AArch64 pointer authentication
        break;
      default:
        known = false;
    }
  }
}

std::optional<CommonInformation> ParseCommon(MemoryView frames, uintptr_t address) {
  EhReader reader(RecordBody(frames, address));
  if (reader.Fixed<uint32_t>() != 0) return std::nullopt;  // 0 marks a CIE
  const uint8_t version = reader.Byte();
  if (version != 1 && version != 3) return std::nullopt;
  const MemoryView names = reader.String();
  CommonInformation common;
  common.code_alignment = reader.Unsigned();
  common.data_alignment = reader.Signed();
  const uint64_t column = version == 1 ? reader.Byte() : reader.Unsigned();
  if (!reader.ok() || column != kReturnAddressColumn) return std::nullopt;
  bool known = true;
  if (!names.bytes.empty()) {
    if (names.bytes[0] != 'z') return std::nullopt;
    common.has_augmentation_data = true;
    EhReader data(reader.Block(reader.Unsigned()));
    ReadAugmentation(names, data, common, known);
    known = known && data.ok();
  }
  common.instructions = reader.Rest();
  if (!reader.ok() || !known) return std::nullopt;
  return common;
}

}  // namespace

std::optional<EhFrameHeader> ParseEhFrameHeader(MemoryView header) {
  EhReader reader(header);
  const uint8_t version = reader.Byte();
  const uint8_t frame_encoding = reader.Byte();
  const uint8_t count_encoding = reader.Byte();
  const uint8_t table_encoding = reader.Byte();
  if (version != 1 || table_encoding != kTableEncoding) return std::nullopt;
  if (frame_encoding == kEncodingOmit || count_encoding == kEncodingOmit) return std::nullopt;
  EhFrameHeader result;
  result.base = header.address;
  result.eh_frame = reader.Pointer(frame_encoding, header.address);
  const uint64_t count = reader.Pointer(count_encoding, header.address);
  const MemoryView rest = reader.Rest();
  if (!reader.ok() || count == 0 || count > rest.bytes.size() / kRowSize) return std::nullopt;
  result.table = rest.First(count * kRowSize);
  return result;
}

std::optional<uintptr_t> FindDescription(const EhFrameHeader& header, uintptr_t ip) {
  const int64_t wanted = static_cast<int64_t>(ip - header.base);
  size_t low = 0;
  size_t high = header.table.bytes.size() / kRowSize;
  while (low < high) {  // first row that starts after ip
    const size_t middle = low + (high - low) / 2;
    if (TableValue(header, middle, 0) <= wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return std::nullopt;
  return header.base + static_cast<uintptr_t>(int64_t{TableValue(header, low - 1, 1)});
}

std::optional<FrameDescription> ParseDescription(MemoryView frames, uintptr_t address) {
  EhReader reader(RecordBody(frames, address));
  const uintptr_t pointer_address = reader.address();
  const uint32_t back = reader.Fixed<uint32_t>();
  if (!reader.ok() || back == 0) return std::nullopt;  // 0 would be a CIE
  const auto common = ParseCommon(frames, pointer_address - back);
  if (!common) return std::nullopt;
  FrameDescription description;
  description.common = *common;
  description.start = reader.Pointer(common->pointer_encoding, 0);
  description.size_bytes = reader.Pointer(common->pointer_encoding & 0x0f, 0);
  if (common->has_augmentation_data) reader.Block(reader.Unsigned());
  description.instructions = reader.Rest();
  if (!reader.ok()) return std::nullopt;
  return description;
}

}  // namespace memagent::capture
