#include "viewer/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "viewer/concat.h"

namespace memagent::viewer {
namespace {

struct Decoded {
  char32_t code_point = 0;
  size_t bytes = 1;
  bool valid = false;
};

// Bytes of the sequence that `lead` starts, 0 when it can't start one.
size_t SequenceBytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

// RFC 3629: neither overlong forms nor surrogates nor anything above U+10FFFF.
bool IsCanonical(char32_t code_point, size_t bytes) {
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (code_point < kSmallest[bytes] || code_point > 0x10ffff) return false;
  return code_point < 0xd800 || code_point > 0xdfff;
}

Decoded DecodeFirst(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t bytes = SequenceBytes(byte(0));
  if (bytes == 1) return {byte(0), 1, true};
  if (bytes == 0 || bytes > text.size()) return {};
  char32_t code_point = byte(0) & (0x7fU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code_point = code_point << 6 | (byte(i) & 0x3f);
  }
  if (!IsCanonical(code_point, bytes)) return {};
  return {code_point, bytes, true};
}

struct Range {
  char32_t first;
  char32_t last;
};

template <size_t N>
bool IsIn(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](const Range& range) { return c >= range.first && c <= range.last; });
}

// Controls; soft hyphen; zero-width and direction marks; line and paragraph separators; the
// "Trojan Source" overrides and isolates (CVE-2021-42574); BOM; interlinear marks; tags; private
// use.
constexpr std::array<Range, 11> kHarmful = {{{0x00, 0x1f},
                                             {0x7f, 0x9f},
                                             {0xad, 0xad},
                                             {0x061c, 0x061c},
                                             {0x180e, 0x180e},
                                             {0x200b, 0x200f},
                                             {0x2028, 0x202e},
                                             {0x2060, 0x206f},
                                             {0xfeff, 0xfeff},
                                             {0xfff0, 0xfffb},
                                             {0xe0000, 0x10ffff}}};
// Unicode's combining blocks and variation selectors.
constexpr std::array<Range, 5> kZeroWidth = {
    {{0x0300, 0x036f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}}};
// East Asian Wide and Fullwidth, and emoji (UAX #11), by block.
constexpr std::array<Range, 9> kWide = {{{0x1100, 0x115f},
                                         {0x2e80, 0x303e},
                                         {0x3041, 0xa4cf},
                                         {0xac00, 0xd7a3},
                                         {0xf900, 0xfaff},
                                         {0xfe30, 0xfe6f},
                                         {0xff00, 0xff60},
                                         {0x1f300, 0x1faff},
                                         {0x20000, 0x3fffd}}};

size_t WidthOf(char32_t c) {
  if (IsIn(kZeroWidth, c)) return 0;
  return IsIn(kWide, c) ? 2 : 1;
}

std::string_view Ellipsis(Charset charset) { return charset == Charset::kUtf8 ? "…" : "~"; }

// Bytes of the longest beginning of `text` that fits `width` columns.
size_t FittingBytes(std::string_view text, size_t width) {
  size_t bytes = 0;
  size_t used = 0;
  while (bytes < text.size()) {
    const Decoded next = DecodeFirst(text.substr(bytes));
    const size_t columns = next.valid ? WidthOf(next.code_point) : 1;
    if (used + columns > width) break;
    used += columns;
    bytes += next.bytes;
  }
  return bytes;
}

// `value` with three significant digits: "4.00", "64.0", "640".
std::string ThreeDigits(double value) {
  if (value < 9.995) return Fixed(value, 2);
  if (value < 99.95) return Fixed(value, 1);
  return Fixed(value, 0);
}

}  // namespace

std::string Printable(std::string_view text, Charset charset) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = DecodeFirst(text);
    const bool show = next.valid && !IsIn(kHarmful, next.code_point) &&
                      (charset == Charset::kUtf8 || next.code_point < 0x80);
    if (show) {
      result.append(text.substr(0, next.bytes));
    } else {
      result.push_back('?');
    }
    text.remove_prefix(next.bytes);
  }
  return result;
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Decoded next = DecodeFirst(text);
    width += next.valid ? WidthOf(next.code_point) : 1;
    text.remove_prefix(next.bytes);
  }
  return width;
}

std::string Truncate(std::string_view text, size_t width, Charset charset) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width == 0) return "";
  return Concat(text.substr(0, FittingBytes(text, width - 1)), Ellipsis(charset));
}

std::string TruncateFront(std::string_view text, size_t width, Charset charset) {
  size_t used = DisplayWidth(text);
  if (used <= width) return std::string(text);
  if (width == 0) return "";
  while (used > width - 1) {
    const Decoded first = DecodeFirst(text);
    used -= first.valid ? WidthOf(first.code_point) : 1;
    text.remove_prefix(first.bytes);
  }
  return Concat(Ellipsis(charset), text);
}

std::string PadRight(std::string_view text, size_t width) {
  const size_t used = DisplayWidth(text);
  return Concat(text, std::string(used < width ? width - used : 0, ' '));
}

std::string PadLeft(std::string_view text, size_t width) {
  const size_t used = DisplayWidth(text);
  return Concat(std::string(used < width ? width - used : 0, ' '), text);
}

std::string HumanBytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return Concat(bytes, " B");
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return Concat(ThreeDigits(value), " ", kUnits[unit]);
}

std::string HumanCount(uint64_t count) {
  constexpr const char* kUnits[] = {"", "k", "M", "G", "T", "P", "E"};
  if (count < 1000) return Concat(count);
  double value = static_cast<double>(count);
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return Concat(ThreeDigits(value), kUnits[unit]);
}

std::string GroupedCount(uint64_t count) {
  const std::string digits = Concat(count);
  std::string result;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) result += ',';
    result += digits[i];
  }
  return result;
}

std::string HumanDuration(uint64_t nanos) {
  const double seconds = static_cast<double>(nanos) / 1e9;
  if (nanos < 1'000) return Concat(nanos, " ns");
  if (seconds < 0.9995e-3) return Concat(ThreeDigits(seconds * 1e6), " us");
  if (seconds < 0.9995) return Concat(ThreeDigits(seconds * 1e3), " ms");
  if (seconds < 120) return Concat(ThreeDigits(seconds), " s");
  const uint64_t whole = nanos / 1'000'000'000;
  if (whole < 7200) return Concat(whole / 60, " min ", whole % 60, " s");
  return Concat(whole / 3600, " h ", whole / 60 % 60, " min");
}

std::string PercentNumber(double share) {
  if (share > 0 && share < 0.0005) return "<0.1";
  return Fixed(share * 100, 1);
}

std::string Percent(double share) { return Concat(PercentNumber(share), " %"); }

std::string Plural(uint64_t count, std::string_view singular) {
  return Concat(GroupedCount(count), " ", singular, count == 1 ? "" : "s");
}

}  // namespace memagent::viewer
