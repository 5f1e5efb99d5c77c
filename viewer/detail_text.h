// Everything about one allocation site, for people.
#ifndef MEMAGENT_VIEWER_DETAIL_TEXT_H_
#define MEMAGENT_VIEWER_DETAIL_TEXT_H_

#include <string>

#include "viewer/terminal.h"
#include "viewer/view.h"

namespace memagent::viewer {

// Stack, users, first touch, pages, accessing code, evidence.
std::string DetailText(const View& view, const SiteView& site, const Terminal& terminal);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_DETAIL_TEXT_H_
