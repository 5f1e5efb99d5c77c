#include "viewer/terminal.h"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "viewer/concat.h"

namespace memagent::viewer {
namespace {

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

size_t DetectWidth() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const std::string_view asked = Environment("COLUMNS");
  size_t columns = 0;
  std::from_chars(asked.data(), asked.data() + asked.size(), columns);
  return columns > 0 ? columns : kNarrowestWidth;
}

bool DetectColor() {
  if (!Environment("NO_COLOR").empty() || Environment("TERM") == "dumb") return false;
  return isatty(STDOUT_FILENO) == 1;
}

// A number and its unit stay on one line.
bool IsUnit(std::string_view word) {
  while (!word.empty() && std::string_view(",.;:)").find(word.back()) != std::string_view::npos) {
    word.remove_suffix(1);
  }
  for (const std::string_view unit :
       {"%", "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "s", "ms", "us", "ns", "pts"}) {
    if (word == unit) return true;
  }
  return false;
}

std::string_view EscapeOf(Ink ink) {
  switch (ink) {
    case Ink::kBold:
      return "\x1b[1m";
    case Ink::kDim:
      return "\x1b[2m";
    case Ink::kAlarm:
      return "\x1b[31m";
    case Ink::kPlain:
      break;
  }
  return "";
}

}  // namespace

std::string Terminal::Paint(std::string_view text, Ink ink) const {
  if (!color || ink == Ink::kPlain || text.empty()) return std::string(text);
  return Concat(EscapeOf(ink), text, "\x1b[0m");
}

std::string_view Terminal::Pick(std::string_view utf8, std::string_view ascii) const {
  return charset == Charset::kUtf8 ? utf8 : ascii;
}

Glyphs Terminal::glyphs() const {
  if (charset == Charset::kUtf8) return {"·", "←", "–", "−", "±", "→"};
  return {"|", "<-", "-", "-", "+-", "->"};
}

Terminal DetectTerminal(size_t asked_width) {
  Terminal terminal;
  // Beyond 400 columns a table only gets harder to read.
  terminal.width =
      std::clamp(asked_width > 0 ? asked_width : DetectWidth(), kNarrowestWidth, size_t{400});
  terminal.charset =
      std::string_view(nl_langinfo(CODESET)) == "UTF-8" ? Charset::kUtf8 : Charset::kAscii;
  terminal.color = DetectColor();
  return terminal;
}

std::string WrapItems(const std::vector<std::string>& items, size_t width, size_t indent) {
  std::string result;
  size_t used = indent;
  for (const std::string& item : items) {
    const size_t columns = DisplayWidth(item);
    if (used > indent && used + 1 + columns > width) {
      Append(result, "\n", std::string(indent, ' '));
      used = indent;
    } else if (used > indent) {
      result += ' ';
      ++used;
    }
    result += item;
    used += columns;
  }
  return result;
}

std::string Wrap(std::string_view text, size_t width, size_t indent) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!words.empty() && IsUnit(word)) {
      Append(words.back(), " ", word);
    } else if (!word.empty()) {
      words.emplace_back(word);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return WrapItems(words, width, indent);
}

}  // namespace memagent::viewer
