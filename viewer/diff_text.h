// What `memagent diff` prints: for people, and as JSON (docs/JSON.md).
#ifndef MEMAGENT_VIEWER_DIFF_TEXT_H_
#define MEMAGENT_VIEWER_DIFF_TEXT_H_

#include <string>

#include "viewer/diff.h"
#include "viewer/report_json.h"
#include "viewer/terminal.h"
#include "viewer/view.h"

namespace memagent::viewer {

struct DiffSide {
  const View& view;
  std::string path;
};

// `all`: every site; otherwise the largest ones that can be judged.
std::string DiffText(const Diff& diff, const DiffSide& before, const DiffSide& after, bool all,
                     const Terminal& terminal);
Json DiffJson(const Diff& diff, const DiffSide& before, const DiffSide& after);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_DIFF_TEXT_H_
