// What the agent cost, as JSON. Keys: docs/JSON.md.
#ifndef MEMAGENT_VIEWER_OWN_COST_JSON_H_
#define MEMAGENT_VIEWER_OWN_COST_JSON_H_

#include "viewer/report_json.h"

namespace memagent::viewer {

Json OwnCostJson(const View& view);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_OWN_COST_JSON_H_
