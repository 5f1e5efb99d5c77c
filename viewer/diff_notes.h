// The small print of `memagent diff`: what the intervals stand on, what the words mean, how sites
// were matched.
#ifndef MEMAGENT_VIEWER_DIFF_NOTES_H_
#define MEMAGENT_VIEWER_DIFF_NOTES_H_

#include <string>
#include <vector>

#include "viewer/diff.h"
#include "viewer/terminal.h"

namespace memagent::viewer {

// `more`: there are rows that were not printed. `left_out`: columns, for want of width.
std::string DiffNotes(const Diff& diff, const DiffSide& before, const DiffSide& after, bool more,
                      const std::vector<std::string>& left_out, const Terminal& terminal);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_DIFF_NOTES_H_
