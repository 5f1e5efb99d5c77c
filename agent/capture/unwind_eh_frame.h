// Finds and parses the frame description of an address in .eh_frame_hdr and .eh_frame.
//
// Format: Linux Standard Base Core, "Exception Frames"; DWARF 5 section 6.4. Pure functions from
// bytes; no length is trusted. Calling thread: any.
#ifndef MEMAGENT_AGENT_CAPTURE_UNWIND_EH_FRAME_H_
#define MEMAGENT_AGENT_CAPTURE_UNWIND_EH_FRAME_H_

#include <cstdint>
#include <optional>

#include "agent/capture/unwind_reader.h"

namespace memagent::capture {

// .eh_frame_hdr: a table of (function start, description address), sorted by start.
struct EhFrameHeader {
  uintptr_t eh_frame = 0;  // address of .eh_frame
  MemoryView table;        // 8 bytes a row, relative to the header
  uintptr_t base = 0;
};

// nullopt when it is not a version 1 header with a search table of the one encoding linkers write.
std::optional<EhFrameHeader> ParseEhFrameHeader(MemoryView header);

// Address of the description of the last function that starts at or before `ip`.
std::optional<uintptr_t> FindDescription(const EhFrameHeader& header, uintptr_t ip);

// What all functions that share a CIE have in common.
struct CommonInformation {
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint8_t pointer_encoding = 0;
  bool has_augmentation_data = false;
  bool is_signal_frame = false;
  MemoryView instructions;
};

// One function (FDE).
struct FrameDescription {
  CommonInformation common;
  uintptr_t start = 0;
  uint64_t size_bytes = 0;
  MemoryView instructions;
};

// Parses the FDE at `address` within `frames` (the segment that holds .eh_frame).
std::optional<FrameDescription> ParseDescription(MemoryView frames, uintptr_t address);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_UNWIND_EH_FRAME_H_
