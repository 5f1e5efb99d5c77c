// Rows of values that can be shown as a text table, CSV, Markdown or JSON.
#ifndef MEMAGENT_VIEWER_GRID_H_
#define MEMAGENT_VIEWER_GRID_H_

#include <string>
#include <vector>

#include "viewer/report_json.h"
#include "viewer/table.h"
#include "viewer/terminal.h"

namespace memagent::viewer {

struct GridColumn {
  std::string key;  // in CSV and JSON; "" for a column that only people get
  Column look;      // in text and Markdown; an empty header: only machines get it
};

struct GridCell {
  Json value;  // for machines: exact, without units
  Cell shown;  // for people; already printable
};

struct Grid {
  std::vector<GridColumn> columns;
  std::vector<std::vector<GridCell>> rows;  // one cell for each column
};

// The first `most` rows, and a line that says how many are missing.
std::string GridText(const Grid& grid, size_t most, const Terminal& terminal);
// RFC 4180, with a header line; all rows.
std::string GridCsv(const Grid& grid);
// A Markdown table; all rows.
std::string GridMarkdown(const Grid& grid);
// An array of one object for each row.
Json GridJson(const Grid& grid);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_GRID_H_
