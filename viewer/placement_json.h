// Patterns, causes, advice and what they come from, as JSON. Keys: docs/JSON.md.
#ifndef MEMAGENT_VIEWER_PLACEMENT_JSON_H_
#define MEMAGENT_VIEWER_PLACEMENT_JSON_H_

#include <string>

#include "viewer/advice.h"
#include "viewer/report_json.h"

namespace memagent::viewer {

// Adds what the profile tells of a site's parts, sharing, policies and moved pages, and what
// follows from it: pattern and causes.
void AddPlacementJson(Json& json, const View& view, const SiteView& site);

// "pattern" and "causes" of a site.
void AddDiagnosisJson(Json& json, const View& view, const SiteView& site,
                      const Diagnosis& diagnosis);
// An array. `profile`: the file's name, for the rules.
Json AdviceJson(const SiteView& site, const Diagnosis& diagnosis, const std::string& profile);

// Calls of the program that place memory or threads; the nodes' counters; NUMA balancing.
void AddPlacementSummary(Json& json, const View& view);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_PLACEMENT_JSON_H_
