// The samples of a view, grouped in other ways than by allocation site.
#ifndef MEMAGENT_VIEWER_BREAKDOWN_H_
#define MEMAGENT_VIEWER_BREAKDOWN_H_

#include "viewer/grid.h"
#include "viewer/terminal.h"
#include "viewer/view.h"

namespace memagent::viewer {

// By allocation site: one row for each call stack. For CSV and Markdown; text has more
// (report_text.h).
Grid SiteGrid(const View& view, const Terminal& terminal);
// By object: sites that allocate in the same line, however they were reached, are one.
Grid ObjectGrid(const View& view, const Terminal& terminal);
// By the code that accessed memory.
Grid CodeGrid(const View& view, const Terminal& terminal);
// By the thread that accessed it.
Grid ThreadGrid(const View& view, const Terminal& terminal);
// By what the hardware said of the access, and whether its page was near or far. Without rows where
// no hardware told.
Grid LevelGrid(const View& view, const Terminal& terminal);
// By the node of the CPU and the node of the memory.
Grid NodeGrid(const View& view, const Terminal& terminal);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_BREAKDOWN_H_
