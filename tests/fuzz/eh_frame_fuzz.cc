// Random bytes as .eh_frame_hdr and .eh_frame: the parser and the call frame interpreter must
// neither read outside the bytes nor run without end.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "agent/capture/unwind_cfi.h"

// Input: 2 bytes offset of the address to look up, 2 bytes size of the header, header, frames.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using memagent::capture::CompileRule;
  using memagent::capture::MemoryView;
  constexpr uintptr_t kAddress = 0x100000;
  if (size < 4) return 0;
  uint16_t offset;
  uint16_t header_size;
  std::memcpy(&offset, data, 2);
  std::memcpy(&header_size, data + 2, 2);
  const std::span bytes(data + 4, size - 4);
  const size_t split = header_size % (bytes.size() + 1);
  const MemoryView header{bytes.first(split), kAddress};
  const MemoryView frames{bytes.subspan(split), kAddress + split};
  const uintptr_t ip = kAddress + offset - 0x8000;
  if (const auto parsed = memagent::capture::ParseEhFrameHeader(header)) {
    CompileRule(*parsed, frames, ip);
    StartsFunction(*parsed, frames, ip);
  }
  // Without the search table, so that the interpreter is reached by more inputs.
  if (const auto description = ParseDescription(frames, frames.address + offset % 64)) {
    RuleFromDescription(*description, description->start + offset % 256);
  }
  return 0;
}
