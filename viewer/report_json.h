// The machine-readable report. Keys: docs/JSON.md.
#ifndef MEMAGENT_VIEWER_REPORT_JSON_H_
#define MEMAGENT_VIEWER_REPORT_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "viewer/view.h"

namespace memagent::viewer {

// Keys keep the order in which they are documented.
using Json = nlohmann::ordered_json;

// Everything of a report but sites and other rows: how it was measured, accounting, threads.
Json SummaryJson(const View& view);
Json SiteJson(const View& view, const SiteView& site);
Json CodeLineJson(const CodeLine& line);
Json ProcessJson(const View& view);
Json MachineJson(const View& view);

// The text of a JSON object with a final newline: a line for each key, and one for each element of
// an array (a big profile's sites indented throughout would be mostly spaces). ASCII, all else is
// escaped; bytes that are not UTF-8 become U+FFFD.
std::string JsonText(const Json& json);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_REPORT_JSON_H_
