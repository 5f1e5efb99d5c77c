// What `memagent diff` prints for people.
#ifndef MEMAGENT_VIEWER_DIFF_TEXT_H_
#define MEMAGENT_VIEWER_DIFF_TEXT_H_

#include <string>

#include "viewer/diff.h"
#include "viewer/terminal.h"

namespace memagent::viewer {

// `all`: every site; otherwise the largest ones that can be judged.
std::string DiffText(const Diff& diff, const DiffSide& before, const DiffSide& after, bool all,
                     const Terminal& terminal);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_DIFF_TEXT_H_
