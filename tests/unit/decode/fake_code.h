// Code of a made-up process for tests of the x86 stage: lines of machine code in hexadecimal, each
// with its assembler text, laid out as one function.
#ifndef MEMAGENT_TESTS_UNIT_DECODE_FAKE_CODE_H_
#define MEMAGENT_TESTS_UNIT_DECODE_FAKE_CODE_H_

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/decode/code_reader.h"

namespace memagent::decode {

struct Line {
  std::string_view hex;   // "48 8b 3f"
  std::string_view text;  // for the reader
};

inline std::vector<std::byte> BytesOf(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 2 <= hex.size(); i += 3) {
    unsigned value = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

class FakeCode final : public CodeReader {
 public:
  static constexpr uint64_t kBase = 0x401000;

  FakeCode() = default;
  explicit FakeCode(std::vector<Line> lines) {
    for (const Line& line : lines) {
      pcs_.push_back(kBase + bytes_.size());
      const std::vector<std::byte> bytes = BytesOf(line.hex);
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    size_ = bytes_.size();
  }
  explicit FakeCode(std::vector<std::byte> bytes)
      : bytes_(std::move(bytes)), size_(bytes_.size()) {}

  // The address of the line at `position`.
  uint64_t pc(size_t position) const { return pcs_.at(position); }
  // The function's bounds stay known; its bytes are gone.
  void Unmap() { bytes_.clear(); }

  size_t Read(uint64_t address, std::span<std::byte> out) override {
    if (address < kBase || address - kBase >= bytes_.size()) return 0;
    const size_t offset = address - kBase;
    const size_t count = std::min(out.size(), bytes_.size() - offset);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), count, out.begin());
    return count;
  }
  std::optional<os::FunctionBounds> FunctionAt(uint64_t pc) override {
    if (pc < kBase || pc - kBase >= size_) return std::nullopt;
    return os::FunctionBounds{kBase, kBase + size_};
  }

 private:
  std::vector<std::byte> bytes_;
  std::vector<uint64_t> pcs_;
  size_t size_ = 0;
};

}  // namespace memagent::decode

#endif  // MEMAGENT_TESTS_UNIT_DECODE_FAKE_CODE_H_
