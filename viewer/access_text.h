// What hardware told of accesses, in words: latency, where they were served, and how far the two
// witnesses of locality agree. Only for views with HasLatency() or HasSource(), unless it says so.
#ifndef MEMAGENT_VIEWER_ACCESS_TEXT_H_
#define MEMAGENT_VIEWER_ACCESS_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "viewer/statistics.h"
#include "viewer/terminal.h"
#include "viewer/view.h"

namespace memagent::viewer {

inline constexpr std::string_view kLatencyNote =
    "Latency: share of the cycles that the sampled accesses took, not of the time that the program "
    "waited; cycles are means.";

// Share of all sampled latency, with its interval: a latency is heavier or lighter than others, so
// it stands for fewer samples than were taken (Kish's effective size).
Interval LatencyShareInterval(const View& view, const AccessView& access);
std::string LatencyShareText(const View& view, const AccessView& access, const Terminal& terminal);

// The mean latency of accesses to near and to far pages, "104 -> 318"; of all on one node.
std::string CyclesHeader(const View& view, const Terminal& terminal);
std::string CyclesText(const View& view, const AccessView& access, const Terminal& terminal);

// One or two sentences on the site with the most sampled latency.
std::string LatencyVerdict(const View& view, const Terminal& terminal);

// How often page and hardware say the same of where an access went. "" where one of them says
// nothing; any view.
std::string WitnessText(const View& view);

// The lines of a site's detail: kinds of accesses, latency, levels. Empty for a site of which
// hardware told nothing; any view.
struct AccessLine {
  std::string_view label;
  std::vector<std::string> items;
};
std::vector<AccessLine> AccessLines(const View& view, const AccessView& access,
                                    const Terminal& terminal);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_ACCESS_TEXT_H_
