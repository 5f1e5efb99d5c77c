// What the output can show: width, characters, colour.
#ifndef MEMAGENT_VIEWER_TERMINAL_H_
#define MEMAGENT_VIEWER_TERMINAL_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/text.h"

namespace memagent::viewer {

// Reports are laid out for at least this many columns; narrower terminals wrap.
inline constexpr size_t kNarrowestWidth = 80;

enum class Ink { kPlain, kBold, kDim, kAlarm };

// Punctuation with a stand-in in ASCII.
struct Glyphs {
  std::string_view dot;         // between items
  std::string_view arrow;       // "called by"
  std::string_view dash;        // between the ends of a range
  std::string_view minus;       // before a number
  std::string_view plus_minus;  // before half an interval
  std::string_view becomes;     // from before to after
};

struct Terminal {
  size_t width = kNarrowestWidth;
  Charset charset = Charset::kUtf8;
  bool color = false;

  // `text` between the escape sequences of an ink, or as it is when there is no colour.
  std::string Paint(std::string_view text, Ink ink) const;
  // The character when the output is UTF-8, else its stand-in.
  std::string_view Pick(std::string_view utf8, std::string_view ascii) const;
  Glyphs glyphs() const;
  std::string Safe(std::string_view untrusted) const { return Printable(untrusted, charset); }
};

// Standard output as it is: width from `asked_width` (0: not asked), else the terminal, else
// COLUMNS, else 80; colour only on a terminal and without NO_COLOR (https://no-color.org) and
// TERM=dumb; UTF-8 by the locale's encoding. Call setlocale(LC_CTYPE, "") before.
Terminal DetectTerminal(size_t asked_width);

// `text` broken at spaces into lines of at most `width` columns; a longer word stays whole. The
// first line starts at column `indent` (the caller has printed that much), the others are indented
// so far.
std::string Wrap(std::string_view text, size_t width, size_t indent);
// The same for items that are not to be broken, with a space between them.
std::string WrapItems(const std::vector<std::string>& items, size_t width, size_t indent);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_TERMINAL_H_
