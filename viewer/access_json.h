// What hardware told of accesses, as JSON. Keys: docs/JSON.md.
#ifndef MEMAGENT_VIEWER_ACCESS_JSON_H_
#define MEMAGENT_VIEWER_ACCESS_JSON_H_

#include "viewer/report_json.h"

namespace memagent::viewer {

// null for accesses of which hardware told nothing.
Json AccessJson(const View& view, const AccessView& access);
Json LatencyJson(const LatencySum& latency);
Json EventTotalsJson(const View& view);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_ACCESS_JSON_H_
