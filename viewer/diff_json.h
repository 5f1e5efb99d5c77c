// The machine-readable diff. Keys: docs/JSON.md.
#ifndef MEMAGENT_VIEWER_DIFF_JSON_H_
#define MEMAGENT_VIEWER_DIFF_JSON_H_

#include "viewer/diff.h"
#include "viewer/report_json.h"

namespace memagent::viewer {

Json DiffJson(const Diff& diff, const DiffSide& before, const DiffSide& after);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_DIFF_JSON_H_
