// Text in a column.
#ifndef MEMAGENT_INJECT_WRAPPED_TEXT_H_
#define MEMAGENT_INJECT_WRAPPED_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace memagent::inject {

// Appends the words of `text` to `out`, whose last line is `indent` wide, so that no line gets wider
// than `width` unless one word alone is; new lines are indented alike. Ends without a newline.
void AppendWrapped(std::string_view text, size_t indent, size_t width, std::string& out);

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_WRAPPED_TEXT_H_
