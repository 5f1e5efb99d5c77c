#include "viewer/own_frame.h"

#include <algorithm>

#include "viewer/function_name.h"

namespace memagent::viewer {

const CodeLine& OwnFrame(const std::vector<CodeLine>& stack) {
  const auto is_own = [](const CodeLine& line) { return !IsPlumbing(line.short_function); };
  const auto is_named = [&is_own](const CodeLine& line) {
    return !line.short_function.empty() && is_own(line);
  };
  auto own = std::find_if(stack.begin(), stack.end(), is_named);
  if (own == stack.end()) own = std::find_if(stack.begin(), stack.end(), is_own);
  return own == stack.end() ? stack.front() : *own;
}

}  // namespace memagent::viewer
