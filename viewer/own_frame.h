// Which frame of a call stack a site is named after.
#ifndef MEMAGENT_VIEWER_OWN_FRAME_H_
#define MEMAGENT_VIEWER_OWN_FRAME_H_

#include <vector>

#include "viewer/view.h"

namespace memagent::viewer {

// The first frame that is the program's own: one with a name, else a place in a library without
// names; the innermost when all are plumbing. `stack` is not empty.
const CodeLine& OwnFrame(const std::vector<CodeLine>& stack);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_OWN_FRAME_H_
