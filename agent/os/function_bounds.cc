#include "agent/os/function_bounds.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "agent/os/code_objects.h"
#include "agent/os/self_memory.h"

namespace memagent::os {
namespace {

// DW_EH_PE_* of the LSB core specification.
constexpr uint8_t kUdata4 = 0x03;
constexpr uint8_t kDatarelSdata4 = 0x3b;
constexpr uint8_t kFormatMask = 0x0f;

// A cursor over untrusted bytes: reads past the end give zero and make `valid` false.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool valid() const { return valid_; }

  uint8_t Byte() {
    if (at_ >= bytes_.size()) valid_ = false;
    return valid_ ? static_cast<uint8_t>(bytes_[at_++]) : uint8_t{0};
  }
  void Skip(size_t count) {
    if (count > bytes_.size() - at_) valid_ = false;
    if (valid_) at_ += count;
  }
  // Signed and unsigned LEB128 take the same bytes; only the length matters here.
  void SkipLeb() {
    while ((Byte() & 0x80) != 0 && valid_) {
    }
  }

 private:
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  bool valid_ = true;
};

// Augmentation strings in the wild: "", "zR", "zPLR", "zRS", "zRB"; "eh" is from before 2000.
struct Augmentation {
  std::array<char, 8> text = {};
  size_t length = 0;
};

std::optional<Augmentation> ReadAugmentation(Cursor& cursor) {
  Augmentation result;
  for (char c = static_cast<char>(cursor.Byte()); c != 0; c = static_cast<char>(cursor.Byte())) {
    if (result.length == result.text.size()) return std::nullopt;
    result.text[result.length++] = c;
  }
  return result;
}

// Walks the augmentation data up to the letter R.
std::optional<uint8_t> FindEncoding(const Augmentation& augmentation, Cursor& cursor) {
  for (size_t i = 1; i < augmentation.length; ++i) {
    const char letter = augmentation.text[i];
    if (letter == 'R') return cursor.Byte();
    if (letter == 'L') cursor.Byte();
    if (letter == 'P') {
      const std::optional<size_t> size = EncodedPointerBytes(cursor.Byte());
      if (!size) return std::nullopt;
      cursor.Skip(*size);
    }
  }
  return uint8_t{0};
}

// Rows read at once: a read costs about 1 us whether of 8 bytes or of 1 KiB.
constexpr uint32_t kWindowRows = 128;

// Part of the table that still may hold the wanted row, with what is known of its ends.
struct Interval {
  uint32_t low;    // every row before starts at or before the wanted pc
  uint32_t high;   // every row from here starts after it
  int64_t low_pc;  // bounds of the pcs in between
  int64_t high_pc;
};

// Where the window should start: functions are spread evenly enough that guessing by proportion
// needs two reads where bisection needs ten; `bisect` guarantees progress for odd layouts.
uint32_t WindowStart(const Interval& interval, int64_t wanted, bool bisect) {
  const uint32_t rows = interval.high - interval.low;
  if (rows <= kWindowRows) return interval.low;
  uint64_t guess = rows / 2;
  if (!bisect && interval.high_pc > interval.low_pc) {
    const auto part = static_cast<double>(wanted - interval.low_pc) /
                      static_cast<double>(interval.high_pc - interval.low_pc);
    guess = static_cast<uint64_t>(std::clamp(part, 0.0, 1.0) * rows);
  }
  const uint64_t centred = guess < kWindowRows / 2 ? 0 : guess - kWindowRows / 2;
  return interval.low + static_cast<uint32_t>(std::min<uint64_t>(centred, rows - kWindowRows));
}

// The last row whose function starts at or before `pc`.
std::optional<SearchRow> FindRow(const SearchTable& table, uint64_t pc, const CodeObject& module) {
  const auto wanted = static_cast<int64_t>(pc - table.header);
  std::optional<SearchRow> best;
  Interval interval{0, table.rows, static_cast<int64_t>(module.start - table.header),
                    static_cast<int64_t>(module.end - table.header)};
  std::array<SearchRow, kWindowRows> rows;
  for (int step = 0; interval.low < interval.high; ++step) {
    const uint32_t start = WindowStart(interval, wanted, step % 2 == 1);
    const auto window = std::span(rows).first(std::min(kWindowRows, interval.high - start));
    const uint64_t address = table.first_row + uint64_t{start} * sizeof(SearchRow);
    const auto bytes = std::as_writable_bytes(window);
    if (ReadSelf(address, bytes) != bytes.size()) return std::nullopt;
    const auto after = std::upper_bound(window.begin(), window.end(), wanted,
                                        [](int64_t w, const SearchRow& row) { return w < row.pc; });
    const auto before_count = static_cast<uint32_t>(after - window.begin());
    if (after != window.begin()) best = *std::prev(after);
    if (before_count != 0 && before_count != window.size()) return best;
    if (before_count == 0) {
      interval.high = start;
      interval.high_pc = window.front().pc;
    } else {
      interval.low = start + before_count;
      interval.low_pc = window.back().pc;
    }
  }
  return best;
}

// The FDE's pc_range: the size of the function in bytes.
std::optional<uint64_t> ReadFunctionBytes(uint64_t fde) {
  struct {
    uint32_t length;
    uint32_t cie_distance;   // from this field back to the CIE
    std::byte pointers[16];  // pc_begin and pc_range
  } head;
  if (!ReadSelfValue(fde, head) || head.length < 8 || head.length >= 0xfffffff0) {
    return std::nullopt;
  }
  std::array<std::byte, 64> cie = {};
  const size_t read = ReadSelf(fde + 4 - head.cie_distance, cie);
  const auto encoding = ParsePointerEncoding(std::span(cie).first(read));
  if (!encoding) return std::nullopt;
  const std::optional<size_t> pointer = EncodedPointerBytes(*encoding);
  if (!pointer || (*pointer != 4 && *pointer != 8)) return std::nullopt;
  uint64_t range = 0;
  std::memcpy(&range, head.pointers + *pointer, *pointer);
  return range;
}

std::optional<SearchTable> ReadTable(const CodeObject& module) {
  std::array<std::byte, kSearchHeaderBytes> bytes = {};
  const size_t read = ReadSelf(module.eh_frame_header, bytes);
  return ParseSearchHeader(module.eh_frame_header, std::span(bytes).first(read));
}

}  // namespace

std::optional<SearchTable> ParseSearchHeader(uint64_t header, std::span<const std::byte> bytes) {
  if (bytes.size() < kSearchHeaderBytes) return std::nullopt;
  const auto at = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const bool pointer_of_4 = (at(1) & kFormatMask) == 0x03 || (at(1) & kFormatMask) == 0x0b;
  if (at(0) != 1 || !pointer_of_4 || at(2) != kUdata4 || at(3) != kDatarelSdata4) {
    return std::nullopt;
  }
  SearchTable table{header, header + kSearchHeaderBytes, 0};
  std::memcpy(&table.rows, bytes.data() + 8, sizeof(table.rows));
  return table;
}

std::optional<size_t> EncodedPointerBytes(uint8_t encoding) {
  switch (encoding & kFormatMask) {
    case 0x00:  // absptr
    case 0x04:  // udata8
    case 0x0c:  // sdata8
      return 8;
    case 0x03:  // udata4
    case 0x0b:  // sdata4
      return 4;
    case 0x02:  // udata2
    case 0x0a:  // sdata2
      return 2;
    default:
      return std::nullopt;
  }
}

std::optional<uint8_t> ParsePointerEncoding(std::span<const std::byte> bytes) {
  Cursor cursor(bytes);
  cursor.Skip(8);  // length, CIE id
  const uint8_t version = cursor.Byte();
  if (version != 1 && version != 3) return std::nullopt;
  const std::optional<Augmentation> augmentation = ReadAugmentation(cursor);
  if (!augmentation) return std::nullopt;
  if (augmentation->length == 0) return cursor.valid() ? std::optional<uint8_t>(0) : std::nullopt;
  if (augmentation->text[0] != 'z') return std::nullopt;
  cursor.SkipLeb();  // code alignment
  cursor.SkipLeb();  // data alignment
  cursor.SkipLeb();  // return address register: one byte in version 1, and < 128 there
  cursor.SkipLeb();  // length of the augmentation data
  const std::optional<uint8_t> encoding = FindEncoding(*augmentation, cursor);
  return cursor.valid() ? encoding : std::nullopt;
}

std::optional<FunctionBounds> FindFunction(uint64_t pc) {
  const std::optional<CodeObject> module = FindCodeObject(pc);
  if (!module) return std::nullopt;
  const std::optional<SearchTable> table = ReadTable(*module);
  if (!table) return std::nullopt;
  const std::optional<SearchRow> row = FindRow(*table, pc, *module);
  if (!row) return std::nullopt;
  const uint64_t start = table->header + static_cast<uint64_t>(int64_t{row->pc});
  const auto size = ReadFunctionBytes(table->header + static_cast<uint64_t>(int64_t{row->fde}));
  if (!size || pc - start >= *size) return std::nullopt;
  return FunctionBounds{start, start + *size};
}

}  // namespace memagent::os
