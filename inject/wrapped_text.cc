#include "inject/wrapped_text.h"

#include <algorithm>

namespace memagent::inject {

void AppendWrapped(std::string_view text, size_t indent, size_t width, std::string& out) {
  size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column > indent && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
}

}  // namespace memagent::inject
