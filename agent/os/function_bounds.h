// Where the function around a program counter starts and ends, from the unwind tables: the only
// source of instruction boundaries that is in every x86-64 binary, stripped or not.
//
// The parsers are pure. FindFunction asks os/code_objects.h, which takes no lock, for the module and
// reads its .eh_frame_hdr by safe reads, so that a module unmapped meanwhile is a miss, no fault.
#ifndef MEMAGENT_AGENT_OS_FUNCTION_BOUNDS_H_
#define MEMAGENT_AGENT_OS_FUNCTION_BOUNDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace memagent::os {

// [start, end) as the frame description entry (FDE) says. A .cold part has an FDE of its own.
struct FunctionBounds {
  uint64_t start = 0;
  uint64_t end = 0;
  bool operator==(const FunctionBounds&) const = default;
};

// The binary search table of an .eh_frame_hdr (LSB core, "Exception Frames").
struct SearchTable {
  uint64_t header = 0;  // what the table's values are relative to
  uint64_t first_row = 0;
  uint32_t rows = 0;
};

// One row: both values relative to the header.
struct SearchRow {
  int32_t pc = 0;
  int32_t fde = 0;
};

// Understands what GNU ld, gold and lld write (version 1, pointer of 4 bytes, udata4 count,
// datarel|sdata4 table); nullopt for all else. `bytes` starts at the header.
inline constexpr size_t kSearchHeaderBytes = 12;
std::optional<SearchTable> ParseSearchHeader(uint64_t header, std::span<const std::byte> bytes);

// The encoding of an FDE's pointers: augmentation letter R of its CIE; DW_EH_PE_absptr (0) when it
// has none; nullopt for a malformed CIE. `bytes` starts at the CIE's length field.
std::optional<uint8_t> ParsePointerEncoding(std::span<const std::byte> bytes);

// How many bytes one pointer of `encoding` takes; nullopt for a variable or unknown size.
std::optional<size_t> EncodedPointerBytes(uint8_t encoding);

// The function of the loaded module around `pc`; nullopt when no module or no FDE covers it (code
// made at run time, hand-written assembly without CFI). Calling thread: any; raw system calls only.
std::optional<FunctionBounds> FindFunction(uint64_t pc);

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_FUNCTION_BOUNDS_H_
