// Calls of the program that say where memory or threads shall be, in the order of time, for people.
#ifndef MEMAGENT_VIEWER_PLACEMENT_TIMELINE_H_
#define MEMAGENT_VIEWER_PLACEMENT_TIMELINE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "viewer/terminal.h"
#include "viewer/view.h"

namespace memagent::viewer {

// "after 1.20 s: mbind by Grid::fill in worker-3, 64.0 MiB of S1, bind 1; 4 times, 2 refused
// (...)". Equal calls of one thread from one place are one line, at the time of the first. At most
// `most`, then a line that counts the rest. Of one site, or of all where `site` is nullptr.
// Printable.
std::vector<std::string> TimelineOf(const View& view, const SiteView* site, size_t most,
                                    const Terminal& terminal);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_PLACEMENT_TIMELINE_H_
