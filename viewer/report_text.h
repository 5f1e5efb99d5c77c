// The report that `memagent report` prints for people.
#ifndef MEMAGENT_VIEWER_REPORT_TEXT_H_
#define MEMAGENT_VIEWER_REPORT_TEXT_H_

#include <cstddef>
#include <string>

#include "viewer/terminal.h"
#include "viewer/view.h"

namespace memagent::viewer {

struct ReportOptions {
  std::string site;     // "S1": only the detail of this one; "" for the whole report
  bool all = false;     // every row, and the detail of every site with samples
  size_t top = 10;      // rows of the table unless `all`
  std::string profile;  // file name for the suggested commands
};

// Header, verdict, table, details, next command. Only characters that `terminal` can show.
std::string ReportText(const View& view, const ReportOptions& options, const Terminal& terminal);

// Who ran, for how long, on what, measured how: the first lines of report and info.
std::string HeaderText(const View& view, const Terminal& terminal);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_REPORT_TEXT_H_
