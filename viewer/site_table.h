// The report's table: a row for each allocation site, the rest in one row, and what has no site.
#ifndef MEMAGENT_VIEWER_SITE_TABLE_H_
#define MEMAGENT_VIEWER_SITE_TABLE_H_

#include <cstddef>
#include <string>

#include "viewer/terminal.h"
#include "viewer/view.h"

namespace memagent::viewer {

// The first `rows` sites of the view, with footnotes.
std::string SiteTableText(const View& view, size_t rows, const Terminal& terminal);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_SITE_TABLE_H_
