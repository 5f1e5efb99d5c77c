// A bounds-checked reader of exception-handling data (.eh_frame, .eh_frame_hdr).
//
// Bytes and the address they stand for are separate, so that tests and the fuzzer can feed any
// bytes. A read past the end makes the reader bad; a bad reader returns zeros from then on.
#ifndef MEMAGENT_AGENT_CAPTURE_UNWIND_READER_H_
#define MEMAGENT_AGENT_CAPTURE_UNWIND_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace memagent::capture {

// Bytes of a mapped object and the address of the first one.
struct MemoryView {
  std::span<const uint8_t> bytes;
  uintptr_t address = 0;

  bool Contains(uintptr_t at) const { return at - address < bytes.size(); }
  // The part from `at` on; empty when `at` is outside.
  MemoryView From(uintptr_t at) const {
    if (!Contains(at)) return {};
    return {bytes.subspan(at - address), at};
  }
  MemoryView First(size_t size) const {
    return {bytes.first(size < bytes.size() ? size : bytes.size()), address};
  }
};

// DWARF pointer encodings (LSB Core, "DWARF Extensions", DW_EH_PE_*).
inline constexpr uint8_t kEncodingOmit = 0xff;
inline constexpr uint8_t kEncodingPcRelative = 0x10;
inline constexpr uint8_t kEncodingDataRelative = 0x30;
inline constexpr uint8_t kEncodingIndirect = 0x80;

class EhReader {
 public:
  explicit EhReader(MemoryView view) : view_(view) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return !ok_ || position_ >= view_.bytes.size(); }
  uintptr_t address() const { return view_.address + position_; }
  MemoryView Rest() const { return ok_ ? view_.From(address()) : MemoryView{}; }

  template <typename T>
  T Fixed() {
    T value{};
    if (!ok_ || view_.bytes.size() - position_ < sizeof(T)) {
      ok_ = false;
      return value;
    }
    std::memcpy(&value, view_.bytes.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }

  uint8_t Byte() { return Fixed<uint8_t>(); }
  uint64_t Unsigned();
  int64_t Signed();
  // Skips and returns `size` bytes.
  MemoryView Block(uint64_t size);
  // Skips a zero-terminated string and returns it without the zero.
  MemoryView String();
  // A pointer in `encoding`; kEncodingDataRelative counts from `data_base`. An indirect pointer
  // is not followed: only personality routines use one, and nobody here calls them.
  uintptr_t Pointer(uint8_t encoding, uintptr_t data_base);

 private:
  uint64_t PointerValue(uint8_t format);

  MemoryView view_;
  size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_UNWIND_READER_H_
