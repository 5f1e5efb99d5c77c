// Everything about one allocation site, for people.
#ifndef MEMAGENT_VIEWER_DETAIL_TEXT_H_
#define MEMAGENT_VIEWER_DETAIL_TEXT_H_

#include <string>

#include "viewer/terminal.h"
#include "viewer/view.h"

namespace memagent::viewer {

// Stack, users, first touch, pages, cause, pattern, accessing code, evidence, advice. `profile`:
// the file's name, for the suggested commands.
std::string DetailText(const View& view, const SiteView& site, const std::string& profile,
                       const Terminal& terminal);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_DETAIL_TEXT_H_
