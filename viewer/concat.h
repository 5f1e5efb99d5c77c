// Concat("a", 1, view): strings and integers joined into one string.
//
// Debian's Abseil is built with its own string_view (ABSL_OPTION_USE_STD_STRING_VIEW 0), so that
// absl::StrCat takes no std::string_view; and g++ 12 has no std::format.
#ifndef MEMAGENT_VIEWER_CONCAT_H_
#define MEMAGENT_VIEWER_CONCAT_H_

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace memagent::viewer {

inline void AppendPiece(std::string& out, std::string_view piece) { out += piece; }
inline void AppendPiece(std::string& out, std::integral auto number) {
  out += std::to_string(number);
}

template <typename... Pieces>
void Append(std::string& out, const Pieces&... pieces) {
  (AppendPiece(out, pieces), ...);
}

template <typename... Pieces>
std::string Concat(const Pieces&... pieces) {
  std::string result;
  Append(result, pieces...);
  return result;
}

// "41.2" for (41.24, 1).
inline std::string Fixed(double value, int decimals) {
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals);
  return end.ec == std::errc() ? std::string(buffer, end.ptr) : std::string("inf");
}

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_CONCAT_H_
