// What the placement rules did, as JSON (docs/JSON.md).
#ifndef MEMAGENT_VIEWER_APPLIED_JSON_H_
#define MEMAGENT_VIEWER_APPLIED_JSON_H_

#include "viewer/report_json.h"
#include "viewer/view.h"

namespace memagent::viewer {

Json PlacementsJson(const View& view);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_APPLIED_JSON_H_
