// What `memagent advise` says, as text and as JSON.
#ifndef MEMAGENT_VIEWER_ADVISE_TEXT_H_
#define MEMAGENT_VIEWER_ADVISE_TEXT_H_

#include <string>
#include <vector>

#include "viewer/report_json.h"
#include "viewer/terminal.h"
#include "viewer/view.h"

namespace memagent::viewer {

struct AdviseOptions {
  std::string site;     // "S1"; "": all with samples
  bool all = false;     // in the text also those with few, and those after the first ten
  std::string profile;  // as the user named it; "-": standard input
};

// The sites that are meant: none when there is no site of that name.
std::vector<const SiteView*> AdvisedSites(const View& view, const std::string& id);

std::string AdviseText(const View& view, const AdviseOptions& options, const Terminal& terminal);
Json AdviseJson(const View& view, const AdviseOptions& options);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_ADVISE_TEXT_H_
