// Changes as words and numbers with their intervals: parts of the text of `memagent diff`.
#ifndef MEMAGENT_VIEWER_CHANGE_TEXT_H_
#define MEMAGENT_VIEWER_CHANGE_TEXT_H_

#include <string>

#include "viewer/change.h"
#include "viewer/diff.h"
#include "viewer/terminal.h"

namespace memagent::viewer {

// "-65.3 +-1.2": percentage points.
std::string PointsText(const Change& change, const Terminal& terminal);
// "-36.4 +-2.0": per cent of what it was. Without the part after the first number when there is no
// interval.
std::string RelativeText(const Change& change, const Terminal& terminal);
// "50.0 -> 5.3 %"; "-" for a side that can't tell.
std::string SharesText(const Change& change, const Terminal& terminal);
// "6.80 s -> 3.80 s" of nanoseconds.
std::string DurationsText(const Change& change, const Terminal& terminal);
std::string DurationText(double nanos);
// "218 -> 127"
std::string CyclesText(const Change& change, const Terminal& terminal);
std::string CyclesText(double cycles);

// "100/0 -> 50/50": per cent of the pages by node; of more than four nodes the fullest alone.
std::string PagesText(const SiteRuns& before, const SiteRuns& after, const Terminal& terminal);

// "First touch of S1: 1 thread in Grid::fill grid.cc:44 -> 4 threads in ..."; "" when the same code
// in about as many threads touched first.
std::string FirstTouchText(const DiffRow& row, const Terminal& terminal);

// "S1: one node's memory served 100.0 % of it, now no node's more than 50.4 % (+-1.3)."; "" unless
// that mended it.
std::string SpreadText(const DiffRow& row, const Terminal& terminal);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_CHANGE_TEXT_H_
