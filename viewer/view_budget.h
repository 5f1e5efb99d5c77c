// Bounds what a view takes in memory: a hostile profile of 1 MB can name one long text a million
// times, and repeat it in as many stacks.
#ifndef MEMAGENT_VIEWER_VIEW_BUDGET_H_
#define MEMAGENT_VIEWER_VIEW_BUDGET_H_

#include <cstddef>
#include <vector>

#include "viewer/view.h"

namespace memagent::viewer {

// 20,000 sites with 40 frames each, the most that an agent's 64 MiB file is thought to hold, take
// 320 MiB. As JSON everything is there three times more.
inline constexpr size_t kMostViewBytes = size_t{512} << 20;

class ViewBudget {
 public:
  // False when there is no room for `bytes` more; from then on there is none for anything.
  bool Take(size_t bytes) {
    if (bytes > left_) left_ = 0, used_up_ = true;
    if (used_up_) return false;
    left_ -= bytes;
    return true;
  }
  bool TakeLines(const std::vector<CodeLine>& lines) {
    size_t bytes = 0;
    for (const CodeLine& line : lines) bytes += BytesOf(line);
    return Take(bytes);
  }
  bool TakeLine(const CodeLine& line) { return Take(BytesOf(line)); }

  bool used_up() const { return used_up_; }

 private:
  static size_t BytesOf(const CodeLine& line) {
    return sizeof(line) + line.function.size() + line.short_function.size() + line.file.size() +
           line.module.size();
  }

  size_t left_ = kMostViewBytes;
  bool used_up_ = false;
};

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_VIEW_BUDGET_H_
