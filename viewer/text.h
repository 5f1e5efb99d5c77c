// Text for people: making untrusted names harmless, measuring and cutting them, and numbers with
// units. Pure functions.
#ifndef MEMAGENT_VIEWER_TEXT_H_
#define MEMAGENT_VIEWER_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace memagent::viewer {

// What the output can show.
enum class Charset { kAscii, kUtf8 };

// `text` with everything replaced that could act on a terminal or disturb a layout: control
// characters (C0, C1, DEL, so no escape sequence survives), bytes that are not UTF-8, and the
// invisible and direction-changing characters that make one name look like another. Each becomes
// '?'. With kAscii, so does every other non-ASCII character.
std::string Printable(std::string_view text, Charset charset);

// Columns that printable UTF-8 text takes: 0 for combining marks, 2 for East Asian wide characters.
size_t DisplayWidth(std::string_view text);

// `text` in at most `width` columns: its end replaced by an ellipsis ("~" in ASCII) when it is
// longer.
std::string Truncate(std::string_view text, size_t width, Charset charset);
// The same, but the beginning goes: for paths, whose end tells most.
std::string TruncateFront(std::string_view text, size_t width, Charset charset);

// Spaces added on the right (or left) up to `width` columns.
std::string PadRight(std::string_view text, size_t width);
std::string PadLeft(std::string_view text, size_t width);

// "0 B", "640 B", "64.0 KiB", "4.00 GiB": three significant digits, at most 8 columns.
std::string HumanBytes(uint64_t bytes);
// "999", "42.1k", "1.05M", "812M", "12.0G": at most 5 columns up to 999 G.
std::string HumanCount(uint64_t count);
// "1,048,576"
std::string GroupedCount(uint64_t count);
// "41.2 s", "12.5 ms", "3 min 20 s", "850 us"
std::string HumanDuration(uint64_t nanos);
// "46.6 %"; "<0.1 %" for something that is not nothing.
std::string Percent(double share);
// "46.6" for use before a shared unit.
std::string PercentNumber(double share);
// "1 thread", "2 threads", "1,024 threads"
std::string Plural(uint64_t count, std::string_view singular);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_TEXT_H_
